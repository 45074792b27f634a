// artifact.published: a manifest stands under its id and content hash, and the WorkItem lists it.
import type { Artifact } from '../../protocol/documents/artifact.ts';
import type { EventKind } from '../decider.ts';
import { changeWorkItem } from '../work-items.ts';

interface ArtifactPublished {
  artifact: Artifact;
  /** Signing hash of the manifest, not of its content. */
  artifactHash: string;
}

export const artifactPublished: EventKind<ArtifactPublished> = {
  kind: 'artifact.published',
  erasable: [],

  evolve(view, event) {
    const { artifact, artifactHash } = event.payload;
    const { artifactId, contentHash, uri, sizeBytes, mediaType, producer, missionId, groupId, workItemId } = artifact;
    const { sourceArtifactHashes, classification, createdAt } = artifact;
    const content = { contentHash, uri, sizeBytes, mediaType, sourceArtifactHashes, classification, createdAt };
    const scope = { missionId, groupId, workItemId };
    view.set('artifact', artifactId, groupId, {
      artifactId,
      ...content,
      producer,
      ...scope,
      signingHash: artifactHash,
    });
    changeWorkItem(view, event, workItemId, ({ workItem, details }) => ({
      workItem,
      details: { ...details, artifactIds: [...details.artifactIds, artifactId] },
    }));
  },
};
