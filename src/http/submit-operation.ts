// What POST /commands promises.
import { z } from 'zod';
import { commandSchema } from '../protocol/documents/command.ts';
import { ERROR_CODES, type ErrorCode } from '../protocol/refusals.ts';
import { receiptShape, visibleEvents } from './answer-shapes.ts';
import { COMMAND_BODY_MAXIMUM } from './bodies.ts';
import { component } from './openapi/components.ts';
import { EXAMPLE_COMMAND, EXAMPLE_PUBLIC_KEY } from './openapi/example-command.ts';
import type { Operation } from './openapi/operation.ts';

const submissionAnswer = component(
  'SubmissionAnswer',
  z.strictObject({
    receipt: receiptShape,
    events: visibleEvents,
    duplicate: z.boolean().meta({ description: 'The identical Command had been accepted before; nothing happened.' }),
  }),
);

/** Of readers of streams, never of senders of Commands. */
const NOT_OF_COMMANDS: readonly ErrorCode[] = ['BACKPRESSURE', 'CURSOR_TOO_OLD'];

export const SUBMIT: Operation = {
  id: 'submitCommand',
  tag: 'Commands',
  summary: 'Submit one signed Command',
  description: `The body is the Command exactly as it was signed. The token is the actor’s own, or that of a service whose policy rights allow it to relay. Sending the identical bytes again answers the same receipt and does nothing, for ever; so after a lost answer, send them again.

The signature is pure Ed25519 over the RFC 8785 form of the Command without its member \`signature\`. The example is signed with the well-known key of RFC 8032, section 7.1, TEST 1 (public key \`${EXAMPLE_PUBLIC_KEY}\`), so that you can check your own signing with it.

Which of \`sessionEpoch\`, \`membershipEpoch\`, \`coordinatorEpoch\` and \`groupId\` a Command carries depends on its kind and on the type of its actor.`,
  access: 'tenant',
  body: {
    description: 'A Command of one of the kinds that are executed here.',
    schema: commandSchema,
    bytesMaximum: COMMAND_BODY_MAXIMUM,
    example: EXAMPLE_COMMAND,
  },
  answers: {
    200: {
      description: 'It is accepted, now or before. Receipt and Events stand in it byte for byte as they are stored.',
      schema: submissionAnswer,
    },
  },
  refusals: ERROR_CODES.filter((code) => !NOT_OF_COMMANDS.includes(code)),
};
