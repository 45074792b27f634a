// POST /commands: the exact bytes of one signed Command to the authority, and its answer back without re-serialising.
import { Hono } from 'hono';
import type { Authority } from '../authority/ports.ts';
import type { Logger } from '../platform/logger.ts';
import { COMMAND_BODY_MAXIMUM, jsonBytes, limitBody } from './bodies.ts';
import { refusalResponse } from './errors.ts';
import { jsonText } from './json-text.ts';
import { declared } from './openapi/operation.ts';
import { SUBMIT } from './submit-operation.ts';
import type { TenantEnv } from './tenancy.ts';
import type { Turns } from './turns.ts';

export interface CommandParts {
  authority: Authority;
  logger: Logger;
  turns: Turns;
}

export function commandRoutes({ authority, logger, turns }: CommandParts): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.post(
    '/commands',
    limitBody(COMMAND_BODY_MAXIMUM),
    declared(SUBMIT, async (c) => {
      const organization = c.get('organization');
      const { principal } = c.get('bearer');
      const tenant = organization.organizationId;
      const bytes = await jsonBytes(c);
      const submission = await turns.run({ lane: tenant }, () => authority.submit(organization, bytes, { principal }));
      if (!submission.accepted) {
        const { refusal, relatedActionId, groupId, occurredAt } = submission;
        logger.info({ tenant, groupId, actionId: relatedActionId, code: refusal.code }, 'a Command was refused');
        return refusalResponse(c, refusal, {
          ...(relatedActionId !== undefined && { relatedActionId }),
          ...(groupId !== undefined && { groupId }),
          occurredAt,
        });
      }
      const { receipt, events, duplicate } = submission;
      return jsonText(c, `{"receipt":${receipt},"events":[${events.join(',')}],"duplicate":${duplicate}}`);
    }),
  );
  return routes;
}
