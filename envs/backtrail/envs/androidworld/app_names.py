"""The names by which agents open apps."""

from __future__ import annotations

__all__ = ["PACKAGES"]

PACKAGES = {
    "android world": "com.example.androidworld",
    "audio recorder": "com.dimowner.audiorecorder",
    "broccoli app": "com.flauschcode.broccoli",
    "broccoli": "com.flauschcode.broccoli",
    "camera": "com.android.camera2",
    "chrome": "com.android.chrome",
    "clipper": "ca.zgrs.clipper",
    "clock": "com.google.android.deskclock",
    "contacts": "com.google.android.contacts",
    "dialer": "com.google.android.dialer",
    "draw": "com.simplemobiletools.draw.pro",
    "files": "com.google.android.documentsui",
    "google chrome": "com.android.chrome",
    "joplin": "net.cozic.joplin",
    "markor": "net.gsantner.markor",
    "messages": "com.google.android.apps.messaging",
    "miniwob": "com.google.androidenv.miniwob",
    "open tracks": "de.dennisguse.opentracks",
    "opentracks": "de.dennisguse.opentracks",
    "osmand": "net.osmand",
    "phone": "com.google.android.dialer",
    "pro expense": "com.arduia.expense",
    "recipe app": "com.flauschcode.broccoli",
    "retro music": "code.name.monkey.retromusic",
    "retro": "code.name.monkey.retromusic",
    "settings": "com.android.settings",
    "simple calendar pro": "com.simplemobiletools.calendar.pro",
    "simple calendar": "com.simplemobiletools.calendar.pro",
    "simple draw pro": "com.simplemobiletools.draw.pro",
    "simple gallery pro": "com.simplemobiletools.gallery.pro",
    "simple gallery": "com.simplemobiletools.gallery.pro",
    "simple sms messenger": "com.simplemobiletools.smsmessenger",
    "simple sms": "com.simplemobiletools.smsmessenger",
    "sms messenger": "com.simplemobiletools.smsmessenger",
    "tasks": "org.tasks",
    "vlc": "org.videolan.vlc",
}
"""Names of apps that AndroidWorld's tasks use; others are opened by their package."""
