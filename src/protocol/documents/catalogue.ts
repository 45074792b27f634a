// Every document by the name of its schema file, to validate one by name. common.schema.json is a set of definitions
// (shapes.ts) and no document, so the catalogue has 21 entries for 22 files.

import type { z } from 'zod';
import { agentCardSchema } from './agent-card.ts';
import { approvalSchema } from './approval.ts';
import { artifactSchema } from './artifact.ts';
import { commandSchema } from './command.ts';
import { contextPackageSchema } from './context-package.ts';
import { conversationSchema } from './conversation.ts';
import { errorSchema } from './error.ts';
import { eventSchema } from './event.ts';
import { evidenceSchema } from './evidence.ts';
import { extensionProfileSchema } from './extension-profile.ts';
import { firstAdmissionRecordSchema } from './first-admission-record.ts';
import { groupSchema } from './group.ts';
import { groupSnapshotSchema } from './group-snapshot.ts';
import { leaseSchema } from './lease.ts';
import { membershipSchema } from './membership.ts';
import { messageSchema } from './message.ts';
import { missionSchema } from './mission.ts';
import { presenceRecordSchema } from './presence-record.ts';
import { websocketFrameSchema } from './websocket-frame.ts';
import { workContractSchema } from './work-contract.ts';
import { workItemSchema } from './work-item.ts';

const SCHEMAS = {
  'agent-card': agentCardSchema,
  approval: approvalSchema,
  artifact: artifactSchema,
  command: commandSchema,
  'context-package': contextPackageSchema,
  conversation: conversationSchema,
  error: errorSchema,
  event: eventSchema,
  evidence: evidenceSchema,
  'extension-profile': extensionProfileSchema,
  'first-admission-record': firstAdmissionRecordSchema,
  group: groupSchema,
  'group-snapshot': groupSnapshotSchema,
  lease: leaseSchema,
  membership: membershipSchema,
  message: messageSchema,
  mission: missionSchema,
  'presence-record': presenceRecordSchema,
  'websocket-frame': websocketFrameSchema,
  'work-contract': workContractSchema,
  'work-item': workItemSchema,
} as const;

export type DocumentName = keyof typeof SCHEMAS;
export type DocumentOf<Name extends DocumentName> = z.infer<(typeof SCHEMAS)[Name]>;
export const DOCUMENT_SCHEMAS: Readonly<Record<DocumentName, z.ZodType>> = SCHEMAS;
export const DOCUMENT_NAMES = Object.keys(SCHEMAS) as readonly DocumentName[];

export function isDocumentName(name: string): name is DocumentName {
  return Object.hasOwn(SCHEMAS, name);
}

export type DocumentCheck<Document> =
  { readonly valid: true; readonly document: Document } | ({ readonly valid: false } & Fault);

/** The first fault, as `/pointer message`, at most FAULT_MAX characters each. Neither holds a value of the document. */
export interface Fault {
  /** For the sender: it names members that the document has, whoever thought of them. */
  readonly fault: string;
  /** For a record that others read: it names only members of the schema. */
  readonly reason: string;
}

const FAULT_MAX = 400;
/** A received member name may hold a NUL, which no audit table takes, or be cut within a surrogate pair. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu;

/** Validates and hands back the very value that came in; a zod parse result would be a copy in schema order. */
export function checkDocument<Name extends DocumentName>(name: Name, value: unknown): DocumentCheck<DocumentOf<Name>> {
  const result = DOCUMENT_SCHEMAS[name].safeParse(value);
  if (result.success) return { valid: true, document: value as DocumentOf<Name> };
  return { valid: false, ...describeFault(result.error) };
}

export function describeFault(error: z.ZodError): Fault {
  const issue = error.issues[0];
  if (issue === undefined) return { fault: 'is not valid', reason: 'is not valid' };
  const pointer = issue.path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const said = (message: string) => shortened(`${pointer === '' ? '/' : pointer} ${message}`);
  const hasUnknown = issue.code === 'unrecognized_keys'; // the one message in which zod repeats what was received
  return { fault: said(issue.message), reason: said(hasUnknown ? 'has a member that is not known' : issue.message) };
}

function shortened(fault: string): string {
  const short = fault.length <= FAULT_MAX ? fault : `${fault.slice(0, FAULT_MAX - 1)}…`;
  return short.replace(UNPRINTABLE, '\uFFFD');
}
