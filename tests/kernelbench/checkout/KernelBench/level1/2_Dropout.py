import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(x)


def get_inputs():
    return [torch.rand(64, 32)]


def get_init_inputs():
    return []
