"""What a test may reach by names, where it is not measured what it executes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.proof.reaching import Reach

GO = {
    "go.mod": "module example.com/shop\n",
    "shop.go": 'package shop\n\nimport "example.com/shop/tax"\n',
    "shop_test.go": "package shop\n",
    "tax/tax.go": "package tax\n",
    "tax/tax_test.go": "package tax\n",
    "names/names.go": 'package names\n\nimport "strings"\n',
    "names/names_test.go": "package names\n",
    "cmd/main.go": 'package main\n\nimport (\n\tshop "example.com/shop"\n)\n',
    "cmd/main_test.go": "package main\n",
}
JAVA = {
    "a/Tax.java": "class Tax { }",
    "a/Shop.java": "class Shop { Tax tax; }",
    "a/Names.java": "class Names { }",
    "b/ShopTest.java": "class ShopTest { Shop shop; }",
    "b/NamesTest.java": "class NamesTest { Names names; }",
}
RUST = {
    "Cargo.toml": "[workspace]\n",
    "tax/Cargo.toml": '[package]\nname = "shop-tax"\n',
    "tax/src/lib.rs": "",
    "names/Cargo.toml": '[package]\nname = "names"\n',
    "names/tests/names.rs": "",
    "shop/Cargo.toml": '[package]\nname = "shop"\n[dependencies]\nshop-tax = { path = "../tax" }\n',
    "shop/tests/shop.rs": "",
}


@pytest.mark.parametrize(
    ("tree", "test", "reached", "others"),
    [
        (GO, "shop_test.go", ["shop.go", "tax/tax.go"], ["names/names.go", "cmd/main.go"]),
        (GO, "cmd/main_test.go", ["cmd/main.go", "shop.go", "tax/tax.go"], ["names/names.go"]),
        (GO, "names/names_test.go", ["names/names.go"], ["shop.go", "tax/tax.go"]),
        (JAVA, "b/ShopTest.java", ["a/Shop.java", "a/Tax.java"], ["a/Names.java"]),
        (JAVA, "b/NamesTest.java", ["a/Names.java"], ["a/Shop.java", "a/Tax.java"]),
        (RUST, "shop/tests/shop.rs", ["tax/src/lib.rs"], []),
        (RUST, "names/tests/names.rs", [], ["tax/src/lib.rs"]),
    ],
)
def test_what_is_named_is_reached_also_by_what_is_named(
    tmp_path: Path, tree: dict[str, str], test: str, reached: list[str], others: list[str]
) -> None:
    for name, text in tree.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    reach = Reach(tmp_path, tree)
    assert [file for file in (*reached, *others) if reach.reaches(test, file)] == reached


def test_a_file_that_belongs_to_nothing_counts_as_reached(tmp_path: Path) -> None:
    for name in ("a.go", "a_test.go", "notes.txt"):
        (tmp_path / name).write_text("package a\n")
    reach = Reach(tmp_path, ["a.go", "a_test.go", "notes.txt"])
    assert [reach.is_known(file) for file in ("a.go", "notes.txt")] == [False, False]
    (tmp_path / "go.mod").write_text("module a\n")
    reach = Reach(tmp_path, ["a.go", "a_test.go", "notes.txt"])
    assert reach.is_known("a_test.go")
    assert reach.reaches("a_test.go", "notes.txt")
