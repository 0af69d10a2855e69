"""ConvE: a convolution over head and relation, laid out as an image."""

from __future__ import annotations

import torch
from torch import nn

from trueedge.methods.kg.models.batch_norm import FewChannelsNorm
from trueedge.methods.kg.models.tables import xavier_rows
from trueedge.training.triples import DotModel


class ConvolutionalQuery(nn.Module):
    """Turns vectors of head and relation into a query by a convolution and a linear map.

    Args:
        dim: the size of all vectors.
        height: the rows of a vector's image; it has ``dim // height`` columns.
        filters: the number of 3 x 3 filters.
        dropouts: the rates for the images, for whole feature maps, and for the output.
    """

    def __init__(self, dim: int, height: int, filters: int, dropouts: tuple[float, float, float]) -> None:
        super().__init__()
        self.shape = (height, dim // height)
        self.input_norm, self.map_norm = FewChannelsNorm(1), FewChannelsNorm(filters)
        self.output_norm = nn.BatchNorm1d(dim)
        self.convolution = nn.Conv2d(1, filters, 3)
        self.linear = nn.Linear(filters * (2 * height - 2) * (dim // height - 2), dim)
        self.input_dropout, self.map_dropout = nn.Dropout(dropouts[0]), nn.Dropout2d(dropouts[1])
        self.output_dropout = nn.Dropout(dropouts[2])

    def forward(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the query of each head and relation vector, float (b, d)."""
        images = [part.view(-1, 1, *self.shape) for part in (heads, relations)]
        image = self.input_dropout(self.input_norm(torch.cat(images, dim=2)))
        maps = self.map_dropout(torch.relu(self.map_norm(self.convolution(image))))
        output = self.output_dropout(self.linear(maps.flatten(1)))
        return torch.relu(self.output_norm(output))


class ConvEModel(DotModel):
    """Scores the dot product of the convolutional query and the tail, plus a bias of the tail.

    ``unit_entities`` keeps the vectors of entities at length 1.
    """

    def __init__(
        self,
        entities: int,
        relations: int,
        dim: int,
        height: int,
        filters: int,
        dropouts: tuple[float, float, float],
        unit_entities: bool = False,
    ) -> None:
        vectors = xavier_rows(entities, dim, unit_entities)
        super().__init__(vectors, xavier_rows(relations, dim, unit_entities), bias=True)
        self.unit_entities = unit_entities
        self.convolutional = ConvolutionalQuery(dim, height, filters, dropouts)

    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the convolutional query."""
        query: torch.Tensor = self.convolutional(heads, relations)
        return query
