// When a Group has something to seal, and up to where: pure sums over the tenant's policy.
import type { OnlineWindow } from '../../domain/policy.ts';
import { timestampFromMillis } from '../../protocol/timestamps.ts';
import type { Window } from '../../store/port/segments.ts';

const DAY_MILLISECONDS = 86_400_000;
/** Sealing begins when so much more than the window is online and then goes to its edge, so that segments are worth it. */
const SLACK = 1.25;

/** What stays online. `now`: milliseconds. */
export function strictWindow({ events, days, bytes }: OnlineWindow, now: number): Window {
  return {
    events,
    ...(bytes !== undefined && { bytes }),
    ...(days !== undefined && { since: timestampFromMillis(now - days * DAY_MILLISECONDS) }),
  };
}

/** Outside of it lies something only when sealing is worth while. */
export function slackWindow({ events, days, bytes }: OnlineWindow, now: number): Window {
  return strictWindow(
    {
      events: Math.ceil(events * SLACK),
      ...(bytes !== undefined && { bytes: Math.ceil(bytes * SLACK) }),
      ...(days !== undefined && { days: days * SLACK }),
    },
    now,
  );
}
