#pragma once

struct Settings {
    int count;
    int block = 128;
};

void halve_all(const Settings &settings);
