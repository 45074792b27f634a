// artifact.publish: the executing owner records a signed manifest of something it made (commands.md 1.26, MWP-WRK-023,
// -024). The bytes are elsewhere; the manifest is immutable and named by its content hash.
import type { z } from 'zod';
import type { Artifact } from '../../protocol/documents/artifact.ts';
import { id, jsonObject } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { addSeconds, compareTimestamps } from '../../protocol/timestamps.ts';
import type { WorkItemAggregate } from '../aggregates.ts';
import { isClaimedId } from '../claimed-ids.ts';
import type { CommandKind, DecisionContext, Request } from '../decider.ts';
import { checkExecuting } from '../execution.ts';
import { contentReads, isKnownContent, lineageReads, usableArtifacts } from '../provenance.ts';
import { one } from '../reads.ts';
import { groupOf, workItemIn, workReads } from '../roles.ts';
import type { View } from '../view.ts';
import { workEvent, workItemRevision } from '../work-items.ts';
import { embeddedId, epoch, payload } from './shapes.ts';

/** Manifests of one WorkItem; its state lists them. */
const ARTIFACTS_MAXIMUM = 1_000;
/** Sources of one manifest; each is looked up. */
const SOURCES_MAXIMUM = 500;
const CLASSIFICATIONS = ['public', 'internal', 'confidential', 'restricted'];

const schema = payload({ artifact: jsonObject, ownershipEpoch: epoch, executionLeaseId: id });

export type ArtifactPublishPayload = z.infer<typeof schema>;

export const artifactPublish: CommandKind<ArtifactPublishPayload> = {
  kind: 'artifact.publish',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, workItemIdOf(payload), view),

  documents: ({ artifact }) => [{ path: 'artifact', kind: 'artifact', value: artifact }],

  reads: ({ command, payload }) => [
    ...workReads(workItemIdOf(payload)),
    one('artifact', embeddedId(payload.artifact, 'artifactId')),
    ...sourcesOf(payload).flatMap((hash) => contentReads(groupOf(command), hash)),
  ],
  moreReads: ({ command, payload }, view) => lineageReads(view, groupOf(command), sourcesOf(payload)),

  decide(request, view, context) {
    const { command, payload } = request;
    const item = workItemIn(view, workItemIdOf(payload), groupOf(command));
    if (isRefusal(item)) return item;
    const artifact = payload.artifact as unknown as Artifact;
    const refusal =
      checkExecuting(command, item, payload, view, context.now) ??
      checkScope(request, artifact, item) ??
      checkProducer(artifact, item) ??
      checkNew(artifact, item, view) ??
      checkTime(artifact, context) ??
      checkSources(artifact, item, view);
    if (refusal) return refusal;
    const artifactHash = context.documentHashes.get('artifact');
    return { events: [{ kind: 'artifact.published', ...workEvent(item), payload: { artifact, artifactHash } }] };
  },
};

function workItemIdOf({ artifact }: ArtifactPublishPayload): string {
  return embeddedId(artifact, 'workItemId');
}

/** Asked before the manifest is known to be well-formed. */
function sourcesOf({ artifact }: ArtifactPublishPayload): string[] {
  const sources = artifact['sourceArtifactHashes'];
  return Array.isArray(sources) ? sources.slice(0, SOURCES_MAXIMUM).filter(isClaimedId) : [];
}

function checkScope({ command }: Request<ArtifactPublishPayload>, artifact: Artifact, { workItem }: WorkItemAggregate) {
  const elsewhere = command.workItemId !== undefined && command.workItemId !== artifact.workItemId;
  if (elsewhere || artifact.missionId !== workItem.missionId || artifact.groupId !== workItem.groupId) {
    return refuse('INVALID_COMMAND', 'the Artifact is of another WorkItem or Mission');
  }
  return undefined;
}

/** The producer is the owner as it was accepted, with what it was accepted for. */
function checkProducer({ producer }: Artifact, { workItem }: WorkItemAggregate): Refusal | undefined {
  const { owner } = workItem;
  if (!owner) throw new Error('checked before');
  if (producer.agentId !== owner.agentId) return refuse('AUTH_FORBIDDEN', 'the Artifact is of another producer');
  if (producer.agentCardVersion !== owner.agentCardVersion) {
    return refuse('REVISION_CONFLICT', 'the Agent Card version is not the one that the acceptance pinned', {
      expectedRevision: producer.agentCardVersion,
      currentRevision: owner.agentCardVersion,
    });
  }
  const claimed = new Set(producer.capabilities.map(({ id, version }) => `${id} ${version}`));
  if (owner.capabilityPins.every((pin) => claimed.has(`${pin.id} ${pin.version}`))) return undefined;
  return refuse('INVALID_COMMAND', 'the producer does not name every pinned capability');
}

function checkNew({ artifactId }: Artifact, { details }: WorkItemAggregate, view: View): Refusal | undefined {
  if (view.get('artifact', artifactId)) {
    return refuse('INVALID_STATE_TRANSITION', 'the Artifact id is already used');
  }
  if (details.artifactIds.length < ARTIFACTS_MAXIMUM) return undefined;
  return refuse('INVALID_COMMAND', `a WorkItem has at most ${ARTIFACTS_MAXIMUM} Artifacts`);
}

/** Not made in the future, but for the clock skew that Commands are allowed as well. */
function checkTime({ createdAt }: Artifact, { now, policy }: DecisionContext): Refusal | undefined {
  const latest = addSeconds(now, policy.freshness.aheadSeconds);
  if (compareTimestamps(createdAt, latest) <= 0) return undefined;
  return refuse('INVALID_COMMAND', 'createdAt is in the future');
}

function checkSources(artifact: Artifact, { workItem }: WorkItemAggregate, view: View): Refusal | undefined {
  if (artifact.sourceArtifactHashes.length > SOURCES_MAXIMUM) {
    return refuse('INVALID_COMMAND', `an Artifact names at most ${SOURCES_MAXIMUM} sources`);
  }
  for (const hash of artifact.sourceArtifactHashes) {
    const refusal = checkSource(artifact, hash, workItem, view);
    if (refusal) return { ...refusal, details: { artifactHash: hash } };
  }
  return undefined;
}

function checkSource(
  artifact: Artifact,
  hash: string,
  place: WorkItemAggregate['workItem'],
  view: View,
): Refusal | undefined {
  if (hash === artifact.contentHash) return refuse('INVALID_COMMAND', 'an Artifact is not its own source');
  if (!isKnownContent(view, hash)) return refuse('INVALID_COMMAND', 'a source is not known');
  const usable = usableArtifacts(view, place, hash);
  if (usable.length === 0) return refuse('AUTH_FORBIDDEN', 'a source is not available to this Mission');
  const rank = CLASSIFICATIONS.indexOf(artifact.classification);
  if (usable.every(({ classification }) => CLASSIFICATIONS.indexOf(classification) <= rank)) return undefined;
  return refuse('INVALID_COMMAND', 'the classification is below that of a source');
}
