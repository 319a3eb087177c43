#pragma once
void write_field(const char *path, const float *field, int n);
