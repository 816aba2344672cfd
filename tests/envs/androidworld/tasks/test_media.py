from __future__ import annotations

import pytest
from checking_tasks import prepared, solved, task_of

from backtrail.envs.androidworld.phone.apps import camera, drawing, recorder
from backtrail.envs.androidworld.phone.files import SHARED


def test_the_number_and_the_side_of_photos_count():
    task = task_of("TakePhotos")
    phone = prepared(task).phone
    phone.data("camera")["facing"] = task.parameters["side"]
    for number in range(1, 5):
        camera.take_photo(phone)
        assert task.done(phone) is (number == task.parameters["count"])
    phone = prepared(task).phone
    phone.data("camera")["facing"] = "front" if task.parameters["side"] == "back" else "back"
    for _ in range(task.parameters["count"]):
        camera.take_photo(phone)
    assert not task.done(phone)


@pytest.mark.parametrize("name", ["TakePhotos", "TakeVideo"])
def test_old_photos_must_stay(name: str):
    task = next(t for seed in range(40) if (t := task_of(name, seed)).parameters["old"])
    phone = solved(task).phone
    assert task.done(phone)
    phone.files.remove(camera.photos(phone)[0])
    assert not task.done(phone)


def test_a_short_video_is_refused():
    task = task_of("TakeVideo")
    for seconds, fine in ((task.parameters["seconds"] - 1, False), (task.parameters["seconds"], True)):
        phone = prepared(task).phone
        phone.data("camera")["facing"] = task.parameters["side"]
        camera.record_video(phone, seconds)
        assert task.done(phone) is fine
    camera.take_photo(phone)
    assert not task.done(phone)


def test_a_recording_has_to_be_long_enough_and_the_only_one():
    task = task_of("RecordAudio")
    name, seconds = task.parameters["name"], task.parameters["seconds"]
    for length, fine in ((seconds - 1, False), (seconds, True)):
        phone = prepared(task).phone
        recorder.add_recording(phone, name, length)
        assert task.done(phone) is fine
    recorder.add_recording(phone, f"{name}2", seconds)
    assert not task.done(phone)


def test_another_recording_must_keep_its_name():
    task = task_of("RenameRecording")
    phone = prepared(task).phone
    other = next(each for each in task.parameters["names"] if each != task.parameters["old"])
    recorder.rename(phone, f"{other}.m4a", f"{task.parameters['name']}.m4a")
    assert not task.done(phone)


def test_a_drawing_has_one_color_only():
    task = task_of("SaveDrawing")
    path = f"{SHARED}/{task.parameters['folder']}/{task.parameters['name']}"
    right, wrong = ([0.1, 0.1, 0.9, 0.9, task.parameters[name]] for name in ("paint", "other"))
    for strokes, fine in (
        ([right], True),
        ([right, right], True),
        ([wrong], False),
        ([right, wrong], False),
        ([], False),
    ):
        phone = prepared(task).phone
        drawing.add_drawing(phone, path, strokes)
        assert task.done(phone) is fine
