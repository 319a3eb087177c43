/* The report's style and script. cmake/embed.cmake makes these arrays from the files in assets/. */
#ifndef KEET_REPORT_ASSETS_H
#define KEET_REPORT_ASSETS_H

extern const char report_asset_report_css[], report_asset_report_css_sha256[];
extern const char report_asset_live_js[], report_asset_live_js_sha256[];
extern const char report_asset_report_js[], report_asset_report_js_sha256[];

#endif
