#include "serving/model/make_model.h"

int main(int argc, char** argv) { return serving::model::make_model_command(argc, argv); }
