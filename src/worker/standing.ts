// What an actor currently is: its Session Epoch, and per Group its Membership and Coordinator Epochs. Learned from the
// Events it reads and from /me, so that every Command carries the right ones.

import type { Event } from '../protocol/documents/event.ts';
import { samePrincipal, type Principal } from '../protocol/principals.ts';
import type { Me } from './answers.ts';
import type { Epochs } from './commands.ts';

interface GroupEpochs {
  membershipEpoch?: number;
  coordinatorEpoch?: number;
}

/** What Event payloads say about epochs, whatever their kind. */
interface EpochNews {
  memberships?: readonly { member: Principal; groupId: string; membershipEpoch: number }[];
  mission?: { groupId: string; coordinator: { agentId: string; coordinatorEpoch: number } };
  lease?: { leaseType: string; groupId: string; holderAgentId: string; coordinatorEpoch?: number };
}

export class Standing {
  private readonly principal: Principal;
  private readonly groups = new Map<string, GroupEpochs>();
  private sessionEpoch: number | undefined;

  constructor(principal: Principal) {
    this.principal = principal;
  }

  sessionOpened(sessionEpoch: number): void {
    this.sessionEpoch = sessionEpoch;
  }

  /** The epochs of a Command in that Group. A human has no Session Epoch, and a creator no Membership yet. */
  epochsIn(groupId: string): Epochs {
    return { ...(this.sessionEpoch !== undefined && { sessionEpoch: this.sessionEpoch }), ...this.groups.get(groupId) };
  }

  learnFromMe(me: Me): void {
    if (me.sessionEpoch !== undefined) this.sessionEpoch = me.sessionEpoch;
    for (const { groupId, membershipEpoch } of me.memberships) this.at(groupId).membershipEpoch = membershipEpoch;
  }

  /** In any order and as often as they come: epochs never fall (MWP-FND-017a). */
  learn(events: readonly Event[]): void {
    for (const event of events) this.learnFrom(event.payload);
  }

  private learnFrom(news: EpochNews): void {
    for (const { member, groupId, membershipEpoch } of news.memberships ?? []) {
      if (!samePrincipal(member, this.principal)) continue;
      const group = this.at(groupId);
      group.membershipEpoch = Math.max(membershipEpoch, group.membershipEpoch ?? 0);
    }
    if (this.principal.type !== 'agent') return;
    const { mission, lease } = news;
    if (mission?.coordinator.agentId === this.principal.id) {
      this.coordinates(mission.groupId, mission.coordinator.coordinatorEpoch);
    }
    if (lease?.coordinatorEpoch !== undefined && lease.holderAgentId === this.principal.id) {
      this.coordinates(lease.groupId, lease.coordinatorEpoch);
    }
  }

  private coordinates(groupId: string, coordinatorEpoch: number): void {
    const group = this.at(groupId);
    group.coordinatorEpoch = Math.max(coordinatorEpoch, group.coordinatorEpoch ?? 0);
  }

  private at(groupId: string): GroupEpochs {
    const known = this.groups.get(groupId) ?? {};
    this.groups.set(groupId, known);
    return known;
  }
}
