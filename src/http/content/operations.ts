// What the routes of contents promise.
import { z } from 'zod';
import { safeInteger, sha256 } from '../../protocol/documents/shapes.ts';
import { BYTES } from '../bodies.ts';
import { component } from '../openapi/components.ts';
import type { Operation } from '../openapi/operation.ts';

const storedContent = component(
  'StoredContent',
  z.strictObject({ contentHash: sha256, sizeBytes: safeInteger.meta({ description: 'Bytes that are stored.' }) }),
);

export function putContent(bytesMaximum: number): Operation {
  return {
    id: 'putContent',
    tag: 'Contents',
    summary: 'Store the bytes of an Artifact',
    description:
      'For active members of any Group. The bytes are stored when this is answered, and survive. Publish a manifest that names them within 24 hours: what no manifest names by then is removed. Putting them again is no error.',
    access: 'tenant',
    body: { description: 'Any bytes that have this hash.', contentType: BYTES, bytesMaximum },
    answers: {
      200: { description: 'The caller had put them before.', schema: storedContent },
      201: { description: 'Stored.', schema: storedContent },
    },
    refusals: ['INVALID_COMMAND', 'MEMBERSHIP_REQUIRED'],
  };
}

export const GET_CONTENT: Operation = {
  id: 'getContent',
  tag: 'Contents',
  summary: 'The bytes of an Artifact',
  description:
    'For who may read a manifest with this `contentHash`, for who put them, and for auditors; to everybody else they are not there. Check the hash of what came: an answer that breaks off is not whole.',
  access: 'tenant',
  answers: {
    200: { description: 'Exactly the bytes.', contentTypes: [BYTES], headers: ['ETag'] },
    304: { description: 'The caller has them: the `ETag` that it sent is of this content.', headers: ['ETag'] },
  },
  refusals: [{ code: 'INVALID_COMMAND', status: 404 }],
};
