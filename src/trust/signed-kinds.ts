// The nine signed kinds: which member is the protected time and who must have signed (MWP-SDV-001). Pointers are
// written as the published profile table writes them, so that the two can be compared.

import type { DocumentOf } from '../protocol/documents/catalogue.ts';
import type { JsonObject } from '../protocol/documents/json-value.ts';
import type { SignedDocumentKind } from '../protocol/kinds.ts';
import type { Principal } from '../protocol/principals.ts';

export type SignerRule =
  | { readonly rule: 'principal-object'; readonly pointer: string }
  | { readonly rule: 'agent-id'; readonly idPointer: string }
  /** Any service of the Organization; whether it may issue Cards is judged after cryptography (MWP-SDV-001b). */
  | { readonly rule: 'service-principal' };

export interface SignedKind {
  readonly protectedTimePointer: string;
  readonly expectedSigner: SignerRule;
}

const principalAt = (pointer: string): SignerRule => ({ rule: 'principal-object', pointer });

export const SIGNED_KINDS: Readonly<Record<SignedDocumentKind, SignedKind>> = {
  'agent-card': { protectedTimePointer: '/issuedAt', expectedSigner: { rule: 'service-principal' } },
  approval: { protectedTimePointer: '/occurredAt', expectedSigner: principalAt('/approver') },
  artifact: {
    protectedTimePointer: '/createdAt',
    expectedSigner: { rule: 'agent-id', idPointer: '/producer/agentId' },
  },
  command: { protectedTimePointer: '/issuedAt', expectedSigner: principalAt('/actor') },
  'context-package': { protectedTimePointer: '/generatedAt', expectedSigner: principalAt('/generatedBy') },
  event: { protectedTimePointer: '/occurredAt', expectedSigner: principalAt('/acceptedBy') },
  evidence: { protectedTimePointer: '/createdAt', expectedSigner: principalAt('/generatedBy') },
  'extension-profile': { protectedTimePointer: '/approvedAt', expectedSigner: principalAt('/approvedBy') },
  'group-snapshot': { protectedTimePointer: '/createdAt', expectedSigner: principalAt('/createdBy') },
};

export type SignedDocument<Kind extends SignedDocumentKind = SignedDocumentKind> = DocumentOf<Kind>;
/** Distributes over a union of kinds, so that each keeps its own members. */
export type UnsignedDocument<Kind extends SignedDocumentKind> = Kind extends SignedDocumentKind
  ? Omit<DocumentOf<Kind>, 'signature'>
  : never;

/** The text as received. The document has passed its schema (or is about to), so the member is a string. */
export function protectedTimeOf(kind: SignedDocumentKind, document: object): string {
  return at(document, SIGNED_KINDS[kind].protectedTimePointer) as string;
}

/** The exact Principal, or `any-service` for an Agent Card. */
export function expectedSignerOf(kind: SignedDocumentKind, document: object): Principal | 'any-service' {
  const { expectedSigner } = SIGNED_KINDS[kind];
  switch (expectedSigner.rule) {
    case 'principal-object':
      return at(document, expectedSigner.pointer) as Principal;
    case 'agent-id':
      return { type: 'agent', id: at(document, expectedSigner.idPointer) as string };
    case 'service-principal':
      return 'any-service';
  }
}

function at(document: object, pointer: string): unknown {
  let value: unknown = document;
  for (const name of pointer.split('/').slice(1)) value = (value as JsonObject)[name];
  return value;
}
