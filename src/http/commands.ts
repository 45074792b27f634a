// POST /commands: the exact bytes of one signed Command to the authority, and its answer back without re-serialising.
import { Hono } from 'hono';
import type { Authority } from '../authority/ports.ts';
import type { Logger } from '../platform/logger.ts';
import { COMMAND_BODY_MAXIMUM, jsonBytes, limitBody } from './bodies.ts';
import { refusalResponse } from './errors.ts';
import { jsonText } from './json-text.ts';
import type { TenantEnv } from './tenancy.ts';
import type { Turns } from './turns.ts';
import { namesOf } from './watching.ts';

export interface CommandParts {
  authority: Authority;
  logger: Logger;
  turns: Turns;
}

export function commandRoutes({ authority, logger, turns }: CommandParts): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.post('/commands', limitBody(COMMAND_BODY_MAXIMUM), async (c) => {
    const organization = c.get('organization');
    const { principal } = c.get('bearer');
    const tenant = organization.organizationId;
    const bytes = await jsonBytes(c);
    const names = namesOf(c);
    const submission = await turns.run({ lane: tenant }, () =>
      authority.submit(organization, bytes, { principal, requestId: names.requestId }),
    );
    if (!submission.accepted) {
      const { refusal, relatedActionId, groupId, occurredAt } = submission;
      const about = { tenant, groupId, actionId: relatedActionId, code: refusal.code };
      logger.info({ ...names, ...about }, 'a Command was refused');
      return refusalResponse(c, refusal, {
        ...(relatedActionId !== undefined && { relatedActionId }),
        ...(groupId !== undefined && { groupId }),
        occurredAt,
      });
    }
    const { receipt, events, duplicate } = submission;
    return jsonText(c, `{"receipt":${receipt},"events":[${events.join(',')}],"duplicate":${duplicate}}`);
  });
  return routes;
}
