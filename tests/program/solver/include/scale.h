#pragma once
int half_block();
void scale(float *field, int rows, int columns, float factor);
