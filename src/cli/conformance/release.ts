// The revision of the protocol's bundles that this release was built against. Another one is told, not refused.

import type { Part } from './folder.ts';

export interface PinnedPart {
  readonly evaluations: number;
  /** The manifest's artifactDigest; for the structural part as integrity.ts makes it. */
  readonly digest: string;
}

export const BUILT_AGAINST: Readonly<Record<Part, PinnedPart>> = {
  structural: {
    evaluations: 58,
    digest: 'sha256:9ffcc64c09d35c9a7c4e143dfcbac5c47ced9bf9a32e3037c8388ce0fa448053',
  },
  cryptography: {
    evaluations: 62,
    digest: 'sha256:5eade516e4bc5dcf04477727ebcccd11f33348b2d9135fb6fe0365c6e6cc2ea3',
  },
  admission: {
    evaluations: 30,
    digest: 'sha256:39971bfafb68ef6c18f9026220cccc4f023fd4d5c8074f8ff0276cb1129cd0a0',
  },
};

/** A sentence for a part of another revision, undefined for the known one. */
export function noticeOf(part: Part, found: PinnedPart): string | undefined {
  const known = BUILT_AGAINST[part];
  const differences = [
    ...(found.evaluations === known.evaluations ? [] : [`${found.evaluations} evaluations, not ${known.evaluations}`]),
    ...(found.digest === known.digest ? [] : [`digest ${found.digest}, not ${known.digest}`]),
  ];
  if (differences.length === 0) return undefined;
  return `${part}: another revision of the bundle than this release was built against: ${differences.join('; ')}`;
}
