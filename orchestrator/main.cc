#include "orchestrator/cli.h"

int main(int argc, char** argv) { return orchestrator::run_cli(argc, argv); }
