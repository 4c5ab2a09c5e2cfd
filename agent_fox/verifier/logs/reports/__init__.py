"""Reports of several tools in one form: JUnit, SARIF, Checkstyle, tables of JSON."""
