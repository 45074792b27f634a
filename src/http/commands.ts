// POST /commands: the exact bytes of one signed Command to the authority, and its answer back without re-serialising.
import { Hono } from 'hono';
import type { Authority } from '../authority/ports.ts';
import type { Logger } from '../platform/logger.ts';
import type { ErrorCode } from '../protocol/refusals.ts';
import type { PassPoint } from '../store/port.ts';
import { COMMAND_BODY_MAXIMUM, jsonBytes, limitBody } from './bodies.ts';
import { HttpRefusal, refusalResponse } from './errors.ts';
import { jsonText } from './json-text.ts';
import { UNBELIEVED_COST, type Asker, type RequestLimits } from './limits/request-limits.ts';
import { declared } from './openapi/operation.ts';
import { SUBMIT } from './submit-operation.ts';
import type { TenantEnv } from './tenancy.ts';
import type { Turns } from './turns.ts';
import { namesOf } from './watching.ts';

export interface CommandParts {
  authority: Authority;
  logger: Logger;
  turns: Turns;
  limits: RequestLimits;
  pass: PassPoint;
}

export function commandRoutes({ authority, logger, turns, limits, pass }: CommandParts): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.post(
    '/commands',
    limitBody(COMMAND_BODY_MAXIMUM),
    declared(SUBMIT, async (c) => {
      const organization = c.get('organization');
      const { principal } = c.get('bearer');
      const tenant = organization.organizationId;
      const bytes = await jsonBytes(c);
      const names = namesOf(c);
      const asker: Asker = { organizationId: tenant, principal };
      const submission = await turns.run({ lane: tenant }, async () => {
        const limited = await limits.stillAdmitted('commands', asker);
        if (limited) throw new HttpRefusal(limited);
        const answer = await authority.submit(organization, bytes, { principal, requestId: names.requestId });
        if (!answer.accepted && isUnbelieved(answer.refusal.code)) {
          await limits.charge('commands', asker, UNBELIEVED_COST - 1);
        }
        return answer;
      });
      pass('answer-due');
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
    }),
  );
  return routes;
}

/** Refused before the rules were asked: only these cost more than they should. Who knocks with a token answers for it. */
function isUnbelieved(code: ErrorCode): boolean {
  return code === 'AUTH_INVALID_SIGNATURE';
}
