"""Graphs for PyTorch Geometric: what each array says, and labelled programs as a dataset."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

import ncc
from tests.rooms import XFG, EdgeKind, build_xfg, read_module
from tests.support.refuses import refuses
from tests.support.tiny import Tiny

pytest.importorskip("torch_geometric", reason="torch_geometric is not installed; pip install '.[pyg]'")

from torch_geometric.loader import DataLoader
from torch_geometric.nn import RGCNConv, global_max_pool
from torch_geometric.transforms import ToUndirected

IR = Path(__file__).parents[2] / "data" / "ir"
NO_CODE = b"declare void @f()\n"
BROKEN = "int f( {\n"


@pytest.fixture(params=["tree.clang22.ll", "shapes.clang16.ll", "legacy.ll"])
def graph(request: pytest.FixtureRequest) -> XFG:
    return build_xfg(read_module(IR / request.param))


def test_edges_are_those_of_the_graph(graph):
    data = graph.to_pyg()
    assert data.validate()
    assert (data.edge_index.dtype, data.edge_type.dtype, data.edge_statement.dtype) == (torch.int64,) * 3
    kinds = [EdgeKind(kind).name.lower() for kind in data.edge_type.tolist()]
    rows = zip(*data.n_id[data.edge_index].tolist(), data.edge_statement.tolist(), kinds, strict=True)
    assert Counter(rows) == Counter(graph.edge_rows())
    assert data.n_id.tolist() == graph.used_nodes()
    assert data.node_function.tolist() == [graph.function_of(node) for node in graph.used_nodes()]


def test_features_of_a_node_are_the_mean_of_the_statements_that_lead_to_it(graph):
    embedding = ncc.load_embedding()
    data = graph.to_pyg()
    assert (data.x.dtype, data.x.shape) == (torch.float32, (len(data.n_id), embedding.dim))
    texts = graph.module.texts
    for node, features in zip(data.n_id.tolist(), data.x.numpy(), strict=True):
        statements = graph.statement[graph.target == node]
        vectors = [embedding.vector(texts[text]) for text in graph.module.text_id[statements].tolist()]
        expected = np.mean(vectors, axis=0) if vectors else np.zeros(embedding.dim)
        assert features == pytest.approx(expected, abs=1e-6)


def test_relations_hold_the_edges_of_their_kind(graph):
    data, hetero = graph.to_pyg(), graph.to_pyg(hetero=True)
    assert hetero.validate()
    assert torch.equal(hetero["identifier"].x, data.x)
    assert hetero.edge_types == [("identifier", kind.name.lower(), "identifier") for kind in EdgeKind]
    for kind, relation in zip(EdgeKind, hetero.edge_stores, strict=True):
        assert torch.equal(relation.edge_index, data.edge_index[:, data.edge_type == kind])
        assert torch.equal(relation.edge_statement, data.edge_statement[data.edge_type == kind])


def test_an_embedding_is_an_object_or_its_folder(tiny: Tiny):
    graph = ncc.build_graph(IR / "tree.clang22.ll")
    data = graph.to_pyg(ncc.load_embedding(tiny.embedding))
    assert data.num_features == 8
    assert torch.equal(graph.to_pyg(str(tiny.embedding)).x, data.x)
    with refuses(ncc.AssetError, "nowhere"):
        graph.to_pyg("nowhere")


@pytest.mark.parametrize("hetero", [False, True])
def test_a_module_without_code_is_an_empty_graph(hetero):
    data = build_xfg(read_module(NO_CODE)).to_pyg(hetero=hetero)
    assert (data.num_nodes, data.num_edges, data.num_node_features) == (
        *(0, 0),
        {"identifier": 200} if hetero else 200,
    )


@pytest.fixture
def labelled(tiny: Tiny, tmp_path: Path) -> Path:
    """Sources and IR of two classes, and two files that have no graph."""
    for name, suffix in (("bits", "c"), ("sums", "ll")):
        (tmp_path / name).mkdir()
        for path in sorted(((tiny.sources if suffix == "c" else tiny.programs) / name).glob(f"*.{suffix}"))[:4]:
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
    (tmp_path / "bits" / "broken.c").write_text(BROKEN)
    (tmp_path / "sums" / "declared.ll").write_bytes(NO_CODE)
    return tmp_path


def test_labelled_programs_are_a_dataset(labelled):
    dataset = ncc.load_program_graphs(labelled, jobs=2)
    assert (dataset.classes, dataset.num_classes, dataset.num_features) == (("bits", "sums"), 2, 200)
    assert dataset.y.tolist() == [0] * 4 + [1] * 4
    assert {path: reason.count("function with code") for path, reason in dataset.failures.items()} == {
        str(labelled / "bits" / "broken.c"): 0,
        str(labelled / "sums" / "declared.ll"): 1,
    }
    for data in dataset:
        assert dataset.classes[int(data.y)] == Path(data.path).parent.name
        assert torch.equal(data.edge_index, ncc.build_graph(data.path).to_pyg().edge_index)


@pytest.mark.parametrize("hetero", [False, True])
def test_batches_go_through_a_network(labelled, hetero):
    dataset = ncc.load_program_graphs(labelled, hetero=hetero)
    (batch,) = DataLoader(dataset[torch.arange(2, 6)], batch_size=4)
    assert batch.y.tolist() == [0, 0, 1, 1]
    assert len(batch.path) == 4
    if hetero:
        batch = ToUndirected()(batch).to_homogeneous()
    layer = RGCNConv(dataset[0].to_homogeneous().num_features if hetero else 200, 3, num_relations=6)
    assert global_max_pool(layer(batch.x, batch.edge_index, batch.edge_type), batch.batch).shape == (4, 3)


def test_a_dataset_that_can_not_be_is_refused(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "broken.c").write_text(BROKEN)
    with refuses(ncc.InputError, "none of 2 files", "broken.c"):
        ncc.load_program_graphs(tmp_path)
    with refuses(ncc.InputError, "classes"):
        ncc.load_program_graphs(tmp_path / "one")
    with refuses(ncc.CompileError, "nowhere"):
        ncc.load_program_graphs(tmp_path, options=ncc.CompileOptions(clang="nowhere"))
    with refuses(ncc.InputError, "jobs"):
        ncc.load_program_graphs(tmp_path, jobs=0)
