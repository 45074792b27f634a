// What a tenant's policy may say: every number within bounds that keep the protocol's promises and the service's own.
import { z } from 'zod';
import { DEFAULT_POLICY, EVERY_GROUP, type Policy } from '../../domain/policy.ts';
import { LIST_READ_MAXIMUM } from '../../domain/reads.ts';
import { commandKind } from '../../protocol/documents/command.ts';
import { humanActor, id, serviceActor } from '../../protocol/documents/shapes.ts';
import { component } from '../openapi/components.ts';

const YEAR_SECONDS = 31_536_000;
const DAY_SECONDS = 86_400;
/** A Command older than this is no news; a wide window only helps who replays. */
const FRESHNESS_MAXIMUM = DAY_SECONDS;
/** A signer's clock can be wrong, but not by hours. */
const AHEAD_MAXIMUM = 3_600;
/** Each candidate becomes part of the WorkItem and of an Event. */
const CANDIDATES_MAXIMUM = 100;
/** Levels: the tree is walked up on each charge, and down by its readers. */
const DEPTH_MAXIMUM = 32;
const LISTED_MAXIMUM = 1_000;
/** Group ids of up to 512 characters, within what one request may bring. */
const HELD_MAXIMUM = 1_000;
/** One request in a hundred seconds; who wants none ends the key. */
const RATE_MINIMUM = 0.01;
/** More than a process answers: no limit at all. */
const RATE_MAXIMUM = 100_000;
const BURST_MAXIMUM = 1_000_000;
/** Ten years: longer than anybody must keep what never happened. */
const RETENTION_DAYS_MAXIMUM = 3_660;
/** More than a Group ever has: no limit at all. */
const EVENTS_MAXIMUM = 1_000_000_000;
/** Of one Agent. Interrupted work joins what is queued, and both together must be one list of a decision. */
const HELD_WORK_ITEMS_MAXIMUM = LIST_READ_MAXIMUM / 2;

const wholeNumber = (least: number, most: number) => z.int().min(least).max(most);
const leaseSeconds = wholeNumber(1, YEAR_SECONDS);
const rate = z.strictObject({
  perSecond: z.number().min(RATE_MINIMUM).max(RATE_MAXIMUM),
  burst: wholeNumber(1, BURST_MAXIMUM),
});
/** No Agent: what others were refused is no agent's business. */
const auditor = z.union([humanActor, serviceActor]);
const sharedRate = z.strictObject({ organization: rate, actor: rate });

export const policyShape = component(
  'Policy',
  z.strictObject({
    version: wholeNumber(1, Number.MAX_SAFE_INTEGER - 1),
    freshness: z.strictObject({
      behindSeconds: wholeNumber(1, FRESHNESS_MAXIMUM),
      aheadSeconds: wholeNumber(0, AHEAD_MAXIMUM),
    }),
    leases: z.strictObject({
      coordinatorMaximum: leaseSeconds,
      ownershipMaximum: leaseSeconds,
      executionMaximum: leaseSeconds,
      blockedMaximum: leaseSeconds,
      offerMaximum: leaseSeconds,
      provisionalMaximum: leaseSeconds,
    }),
    limits: z.strictObject({
      messagesPerMinute: wholeNumber(1, 100_000),
      proposalsPerMinute: wholeNumber(1, 100_000),
      delegationDepth: wholeNumber(0, DEPTH_MAXIMUM),
      queuedWorkItems: wholeNumber(1, HELD_WORK_ITEMS_MAXIMUM),
      activeWorkItems: wholeNumber(1, HELD_WORK_ITEMS_MAXIMUM),
    }),
    // Optional, for policies that were written down before there were rates.
    rates: z
      .strictObject({ commands: sharedRate, reads: sharedRate, logins: sharedRate })
      .default(DEFAULT_POLICY.rates),
    resumeWindowSeconds: wholeNumber(1, YEAR_SECONDS),
    meteringWindowSeconds: wholeNumber(0, YEAR_SECONDS),
    offerCandidatesMaximum: wholeNumber(1, CANDIDATES_MAXIMUM),
    missionOwners: z.array(id).max(LISTED_MAXIMUM),
    services: z
      .array(z.strictObject({ serviceId: id, kinds: z.array(commandKind).max(100), relay: z.boolean() }))
      .max(LISTED_MAXIMUM)
      .refine(
        (services) => new Set(services.map(({ serviceId }) => serviceId)).size === services.length,
        'must name each service once',
      ),
    autoApprovePolicyRequired: z.boolean(),
    // Optional, as the rates are.
    auditors: z.array(auditor).max(LISTED_MAXIMUM).default([]).meta({
      description: 'May read the protected audit record of the Organization; nobody else may.',
    }),
    auditRetentionDays: wholeNumber(1, RETENTION_DAYS_MAXIMUM)
      .default(DEFAULT_POLICY.auditRetentionDays)
      .meta({ description: 'How long a record of a refusal is kept at most, unless its Group is under a legal hold.' }),
    onlineWindow: z
      .strictObject({
        events: wholeNumber(1, EVENTS_MAXIMUM),
        days: wholeNumber(1, RETENTION_DAYS_MAXIMUM).optional(),
        bytes: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
      })
      .default(DEFAULT_POLICY.onlineWindow)
      .meta({
        description:
          'What catch-up serves of a Group: the last so many Events, so many days and so many bytes, whichever is least. Older ones stay readable as history.',
      }),
    snapshotEvery: wholeNumber(1, EVENTS_MAXIMUM)
      .default(DEFAULT_POLICY.snapshotEvery)
      .meta({ description: 'Events of a Group from one snapshot to the next.' }),
    legalHolds: z
      .array(z.union([id, z.literal(EVERY_GROUP)]))
      .max(HELD_MAXIMUM)
      .default([])
      .meta({
        description:
          'Groups in which nothing is erased, and whose sealed audit is not purged, whatever its age; `*` stands for all of them.',
      }),
  }) satisfies z.ZodType<Policy>,
);
