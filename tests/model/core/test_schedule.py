"""Schedules name the minutes that robfig/cron names."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.schedule import EPOCH, Schedule, parsed_schedule


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "after", "then"),
    [
        ("* * * * *", "2024-01-01 00:00", "2024-01-01 00:01"),
        ("* * * * *", "2024-01-01 00:00:59", "2024-01-01 00:01"),
        ("*/15 * * * *", "2012-07-09 14:45", "2012-07-09 15:00"),
        ("20-35/15 * * * *", "2012-07-09 14:46", "2012-07-09 15:20"),
        ("0 3 * * *", "2024-02-28 03:00", "2024-02-29 03:00"),
        ("0 0 29 2 *", "2024-03-01 00:00", "2028-02-29 00:00"),
        ("0 0 1 1 *", "2024-12-31 23:59", "2025-01-01 00:00"),
        ("30 8 * * mon-fri", "2024-01-05 09:00", "2024-01-08 08:30"),
        ("0 0 * Feb Mon", "2012-07-09 23:35", "2013-02-04 00:00"),
        ("0 0 * * 0", "2024-01-01 00:00", "2024-01-07 00:00"),
        ("0 12 1,15 * *", "2024-01-02 00:00", "2024-01-15 12:00"),
        ("0 12 15 * fri", "2024-01-01 00:00", "2024-01-05 12:00"),
        ("0 12 ? * SAT", "2024-01-01 00:00", "2024-01-06 12:00"),
        ("50/4 * * * *", "2024-01-01 00:00", "2024-01-01 00:50"),
        ("@hourly", "2024-01-01 00:30", "2024-01-01 01:00"),
        ("@weekly", "2024-01-01 00:00", "2024-01-07 00:00"),
        ("@yearly", "2024-01-01 00:00", "2025-01-01 00:00"),
        ("@every 1h30m", "2024-01-01 00:10", "2024-01-01 01:40"),
    ],
)
def test_the_next_moment(text: str, after: str, then: str) -> None:
    schedule = parsed_schedule(text)
    assert schedule.next(at(after)) == at(then)
    assert schedule.latest(at(after), at(then)) == at(then)
    assert schedule.latest(at(after), at(then) - 1) is None


def test_a_schedule_without_a_day_has_no_moment() -> None:
    assert parsed_schedule("59 23 31 2 *").next(EPOCH) is None
    assert parsed_schedule("59 23 31 2 *").latest(EPOCH, EPOCH + 10**8) is None


def test_the_latest_of_many() -> None:
    assert parsed_schedule("0 3 * * 1-5").latest(0, at("2024-01-07 12:00")) == at("2024-01-05 03:00")
    assert parsed_schedule("@every 10m").latest(100, 100 + 1805) == 100 + 1800


def test_second_0_is_a_monday() -> None:
    assert at("2024-01-01 00:00") == EPOCH
    assert parsed_schedule("0 0 * * 1").latest(0, EPOCH) == EPOCH


FIELD = st.sampled_from(["*", "*/7", "1-5", "3", "2,5", "*/1"])


@settings(max_examples=40, deadline=None)
@given(minute=FIELD, hour=FIELD, day=FIELD, month=FIELD, weekday=FIELD, start=st.integers(0, 10**6))
def test_next_is_the_first_minute_that_matches(
    minute: str, hour: str, day: str, month: str, weekday: str, start: int
) -> None:
    schedule = parsed_schedule(f"{minute} {hour} {day} {month} {weekday}")
    after = EPOCH + start * 61
    found = schedule.next(after)
    if found is None:
        return
    moment = datetime.fromtimestamp(found, UTC)
    assert moment.minute in schedule.minutes
    assert moment.hour in schedule.hours
    assert moment.month in schedule.months
    assert fits(schedule, moment)
    one = timedelta(days=1)
    between = datetime.fromtimestamp(after, UTC) + one
    while between.date() < moment.date():
        assert not (between.month in schedule.months and fits(schedule, between))
        between += one


def fits(schedule: Schedule, moment: datetime) -> bool:
    by_month, by_week = moment.day in schedule.days, moment.isoweekday() % 7 in schedule.weekdays
    return (by_month and by_week) if schedule.any_day else (by_month or by_week)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("* * * *", "must have 5 fields, not 4"),
        ("", "must have 5 fields, not 0"),
        ("60 * * * *", 'has the minute "60", which is not from 0 to 59'),
        ("* * * * 7", 'has the day of week "7", which is not from 0 to 6'),
        ("* * * foo *", 'has the month "foo", which is no number, nor one of jan, feb'),
        ("5-3 * * * *", 'has the minute "5-3", which ends before it begins'),
        ("*/0 * * * *", 'has the minute "*/0", whose step is no number above 0'),
        ("@often", "must be five fields, @every with a duration, or one of @yearly"),
        ("@every 5", 'has no duration such as 1h30m in "5"'),
        ("@every soon", 'has no duration such as 1h30m in "soon"'),
        ("CRON_TZ=UTC 0 3 * * *", "must not have TZ"),
    ],
)
def test_what_is_no_schedule_says_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        parsed_schedule(text)
