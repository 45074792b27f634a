// What the steps of a login promise, and the bodies that they take.
import { z } from 'zod';
import { actor, base64url, id } from '../../protocol/documents/shapes.ts';
import { LOGIN_BODY_MAXIMUM } from '../bodies.ts';
import { component } from '../openapi/components.ts';
import type { Operation } from '../openapi/operation.ts';
import { challengeAnswer, tokenAnswer } from './answers.ts';
import { CHALLENGE_TEXT_MAXIMUM, CLIENT_NONCE_MAXIMUM } from './challenges.ts';

export const challengeBody = component(
  'ChallengeRequest',
  z.strictObject({
    principal: actor,
    keyId: id,
    clientNonce: base64url
      .refine((text) => text.length <= CLIENT_NONCE_MAXIMUM, 'must have at most 256 characters')
      .meta({ maxLength: CLIENT_NONCE_MAXIMUM, description: 'Fresh random bytes of the client.' }),
  }),
);

export const tokenBody = component(
  'TokenRequest',
  z
    .strictObject({
      principal: actor,
      challenge: base64url
        .refine((text) => text.length <= CHALLENGE_TEXT_MAXIMUM, 'is too long')
        .meta({ maxLength: CHALLENGE_TEXT_MAXIMUM, description: 'As it came from the first step.' }),
      challengeSignature: base64url.meta({
        description: 'Pure Ed25519 over exactly the bytes that `challenge` decodes to.',
      }),
      openSession: z.boolean().optional().meta({ description: 'Of Agents: open a session along with the token.' }),
    })
    .refine(({ principal, openSession }) => !openSession || principal.type === 'agent', {
      path: ['openSession'],
      message: 'is for agents only',
    })
    .meta({
      if: { required: ['openSession'], properties: { openSession: { const: true } } },
      then: { properties: { principal: { properties: { type: { const: 'agent' } } } } },
    }),
);

const HUMAN = { type: 'human', id: 'urn:example:human:olga' } as const;

export const CHALLENGE: Operation = {
  id: 'askChallenge',
  tag: 'Login',
  summary: 'First step of a login: get a challenge to sign',
  description:
    'Whoever the principal says to be; an Organization, principal or key that does not exist gets a challenge like any other. It lives 30 seconds and counts once, good or bad.',
  access: 'public',
  body: {
    description: 'Who will sign, and with which key.',
    schema: challengeBody,
    bytesMaximum: LOGIN_BODY_MAXIMUM,
    example: { principal: HUMAN, keyId: 'urn:example:key:olga:1', clientNonce: 'n0nceOfTheClient' },
  },
  answers: {
    200: {
      description:
        'base64url of the RFC 8785 bytes of `{ agentId, challengeId, clientNonce, expiresAt, keyId, protocolVersion, serverNonce }`; `agentId` is the id of the principal, also of humans and services.',
      schema: challengeAnswer,
    },
  },
};

export const TOKEN: Operation = {
  id: 'logIn',
  tag: 'Login',
  summary: 'Second step of a login: the signed challenge for a token',
  description:
    'Every failure is `AUTH_INVALID_SIGNATURE` in the same words; ask for another challenge after it. With `openSession` the Agent’s Session Epoch rises by one and what its earlier session executed is fenced.',
  access: 'public',
  body: {
    description: 'The challenge and its signature.',
    schema: tokenBody,
    bytesMaximum: LOGIN_BODY_MAXIMUM,
    example: {
      principal: HUMAN,
      challenge: 'eyJhZ2VudElkIjoidXJuOmV4YW1wbGU6aHVtYW46b2xnYSJ9',
      challengeSignature: 'c2lnbmF0dXJlIG92ZXIgdGhlIGRlY29kZWQgYnl0ZXMgb2YgdGhlIGNoYWxsZW5nZQ',
    },
  },
  answers: { 200: { description: 'A token that lives 15 minutes.', schema: tokenAnswer } },
  refusals: [
    'AUTH_INVALID_SIGNATURE',
    'RATE_LIMITED',
    // Of the session_open that the service submits for the Agent.
    'AUTH_FORBIDDEN',
    'INVALID_COMMAND',
  ],
};

export const REFRESH: Operation = {
  id: 'refreshToken',
  tag: 'Login',
  summary: 'A new token for one that still lives',
  description: 'No body. Possible for 24 hours after the signature; then log in again. It bumps no epoch.',
  access: 'tenant',
  answers: { 200: { description: 'A token that lives 15 minutes.', schema: tokenAnswer } },
  refusals: [{ code: 'PROTOCOL_VIOLATION', status: 413 }],
};
