// What each read promises: the table that the routes are declared with.
import type { z } from 'zod';
import { eventSchema } from '../../protocol/documents/event.ts';
import type { Operation, Refused } from '../openapi/operation.ts';
import {
  GROUP_PARAMETER,
  HISTORY_PARAMETERS,
  NUMBERED_PAGE_PARAMETERS,
  PAGE_PARAMETERS,
  stateParameter,
} from '../parameters.ts';
import * as answers from './answers.ts';

export const WORK_ITEM_STATES = [
  'open',
  'offered',
  'queued',
  'active',
  'blocked',
  'submitted',
  'verified',
  'failed',
  'cancelled',
] as const;
export const LEASE_STATES = ['active', 'expired', 'revoked', 'released'] as const;
export const PROPOSAL_STATES = ['open', 'authorized'] as const;

/** An object in a Group that the caller may see, which does not exist or is not shown. */
const NO_SUCH: Refused = { code: 'INVALID_COMMAND', status: 404 };

interface Read {
  id: string;
  summary: string;
  description?: string;
  answer: z.ZodType;
  says: string;
  query?: Operation['query'];
  refusals?: readonly Refused[];
}

function own({ answer, says, refusals = [], ...rest }: Read): Operation {
  return { tag: 'Own', access: 'tenant', answers: { 200: { description: says, schema: answer } }, refusals, ...rest };
}

function ofGroup({ refusals = [], ...rest }: Read): Operation {
  return { ...own({ ...rest, refusals: ['GROUP_NOT_FOUND', 'MEMBERSHIP_REQUIRED', ...refusals] }), tag: 'Groups' };
}

export const OWN_READS = {
  me: own({
    id: 'readMe',
    summary: 'Who the token speaks for, its session and Memberships',
    answer: answers.meAnswer,
    says: 'The caller; a page of its Memberships, by Group id.',
    query: PAGE_PARAMETERS,
  }),
  missions: own({
    id: 'listMissions',
    summary: 'Missions of the Groups of the caller',
    answer: answers.missionPage,
    says: 'A page of Missions.',
    query: PAGE_PARAMETERS,
  }),
  mission: own({
    id: 'readMission',
    summary: 'One Mission',
    description: 'A Mission of a Group that the caller may not know of is as unknown as one that does not exist.',
    answer: answers.missionAnswer,
    says: 'The Mission.',
    refusals: ['GROUP_NOT_FOUND', 'MEMBERSHIP_REQUIRED'],
  }),
  receipt: own({
    id: 'readReceipt',
    summary: 'The receipt of an accepted Command of the caller',
    answer: answers.receiptAnswer,
    says: 'The receipt and, of its Events, those that the caller may see now.',
    refusals: [NO_SUCH],
  }),
  agent: own({
    id: 'readAgent',
    summary: 'The current Agent Card of an Agent',
    answer: answers.agentAnswer,
    says: 'The Card as the registrar signed it.',
    refusals: [NO_SUCH],
  }),
  audit: own({
    id: 'listAudit',
    summary: 'What was refused and why',
    description:
      'The protected record, oldest first, with the stage and the reason that no sender is told. For the auditors that the policy names. What was sealed when a Group was archived is shown with `groupId` alone.',
    answer: answers.auditPage,
    says: 'A page of refusals.',
    query: [GROUP_PARAMETER, ...NUMBERED_PAGE_PARAMETERS],
    refusals: ['AUTH_FORBIDDEN'],
  }),
} as const;

export const GROUP_READS = {
  group: ofGroup({
    id: 'readGroup',
    summary: 'The Group and its head',
    answer: answers.groupAnswer,
    says: 'The Group, the sequence of its last Event and the number of accepted transitions.',
  }),
  workItem: ofGroup({
    id: 'readWorkItem',
    summary: 'One WorkItem',
    answer: answers.workItemAnswer,
    says: 'The WorkItem.',
    refusals: [NO_SUCH],
  }),
  state: ofGroup({
    id: 'readState',
    summary: 'The state document of the Group and its hash',
    description: 'For full members: whoever holds all Events can compute the same hash and so check the authority.',
    answer: answers.stateAnswer,
    says: 'Every aggregate by kind, id and hash, sorted.',
  }),
  events: ofGroup({
    id: 'replayEvents',
    summary: 'Events of the Group in their order',
    description:
      'Catching up: ask again with `after` set to `throughSequence`. `next` is there while more is stored already. Each Event stands in it byte for byte as it was signed, a redacted Message’s as its rendition. Below the online window a full member is told CURSOR_TOO_OLD, with the snapshot to restore.',
    answer: answers.eventPage,
    says: 'A page of Events.',
    query: NUMBERED_PAGE_PARAMETERS,
    refusals: ['CURSOR_TOO_OLD'],
  }),
  history: ofGroup({
    id: 'readHistory',
    summary: 'Events of a range, however old',
    description:
      'Slower than catching up where the range lies below the online window. `next` is what to ask `from` then.',
    answer: answers.eventPage,
    says: 'A page of Events.',
    query: HISTORY_PARAMETERS,
  }),
  event: ofGroup({
    id: 'readEvent',
    summary: 'One Event',
    description: 'To an auditor who is no member: an Event that is withheld from everybody else, and no other.',
    answer: eventSchema,
    says: 'The Event, or the rendition in its place, byte for byte as it was signed.',
    refusals: [NO_SUCH],
  }),
} as const;

const page = { query: PAGE_PARAMETERS } as const;
const pageOfStates = (states: readonly string[]) => ({ query: [stateParameter(states), ...PAGE_PARAMETERS] });

export const GROUP_LISTS = {
  workItems: ofGroup({
    id: 'listWorkItems',
    summary: 'WorkItems',
    answer: answers.workItemPage,
    says: 'A page of WorkItems.',
    ...pageOfStates(WORK_ITEM_STATES),
  }),
  memberships: ofGroup({
    id: 'listMemberships',
    summary: 'Memberships',
    answer: answers.membershipPage,
    says: 'A page of members.',
    ...page,
  }),
  conversations: ofGroup({
    id: 'listConversations',
    summary: 'Conversations',
    answer: answers.conversationPage,
    says: 'A page of Conversations.',
    ...page,
  }),
  messages: ofGroup({
    id: 'listMessages',
    summary: 'Messages of a Conversation',
    answer: answers.messagePage,
    says: 'A page of Messages.',
    refusals: [NO_SUCH],
    ...page,
  }),
  leases: ofGroup({
    id: 'listLeases',
    summary: 'Leases',
    answer: answers.leasePage,
    says: 'A page of Leases.',
    ...pageOfStates(LEASE_STATES),
  }),
  budgets: ofGroup({
    id: 'listBudgets',
    summary: 'Budget accounts',
    answer: answers.accountPage,
    says: 'A page of accounts.',
    ...page,
  }),
  artifacts: ofGroup({
    id: 'listArtifacts',
    summary: 'Artifact manifests',
    answer: answers.artifactPage,
    says: 'A page of manifests as their producers signed them.',
    ...page,
  }),
  evidence: ofGroup({
    id: 'listEvidence',
    summary: 'Evidence',
    answer: answers.evidencePage,
    says: 'A page of Evidence as it was signed.',
    ...page,
  }),
  approvals: ofGroup({
    id: 'listApprovals',
    summary: 'Approvals',
    answer: answers.approvalPage,
    says: 'A page of Approvals as they were signed.',
    ...page,
  }),
  proposals: ofGroup({
    id: 'listProposals',
    summary: 'Proposals of work',
    answer: answers.proposalPage,
    says: 'A page of proposals.',
    ...pageOfStates(PROPOSAL_STATES),
  }),
  policyLog: ofGroup({
    id: 'listPolicyLog',
    summary: 'Policy log of the Group',
    description: 'For full members.',
    answer: answers.policyLogPage,
    says: 'A page of entries, oldest first.',
    query: NUMBERED_PAGE_PARAMETERS,
  }),
} as const;
