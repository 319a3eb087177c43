import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(48)

    def forward(self, x, ignored):
        return self.norm(x).abs().sum(), x.argmax(1)


batch = 64


def get_inputs():
    return [torch.rand(batch, 48), torch.rand(batch)]


def get_init_inputs():
    return []
