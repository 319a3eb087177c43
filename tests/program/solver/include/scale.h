#pragma once
void scale(float *field, int rows, int columns, float factor);
