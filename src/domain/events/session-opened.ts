// session_opened: the Agent has one new current runtime (MWP-FND-016). Of the Organization's own log.
import type { EventKind } from '../decider.ts';

interface SessionOpened {
  agentId: string;
  sessionEpoch: number;
}

export const sessionOpened: EventKind<SessionOpened> = {
  kind: 'ext.missionweaveprotocol.identity.session_opened',
  erasable: [],

  evolve(view, { payload: { agentId, sessionEpoch }, occurredAt }) {
    view.set('session', agentId, '', { agentId, sessionEpoch, openedAt: occurredAt });
  },
};
