import torch
import torch.nn as nn


class Model(nn.Module):
    """Both kinds of recurrent layers, one of them in both directions, over many steps."""

    def __init__(self, width, hidden):
        super().__init__()
        self.gru = nn.GRU(width, hidden, 2, bidirectional=True)
        self.lstm = nn.LSTM(2 * hidden, hidden, 2, batch_first=False)

    def forward(self, x):
        y, last = self.gru(x)
        y, (h, c) = self.lstm(y)
        return y, last, c


steps = 512
batch = 3
width = 64
hidden = 128


def get_inputs():
    return [torch.rand(steps, batch, width)]


def get_init_inputs():
    return [width, hidden]
