// The whole HTTP surface: health, the operator's API, and the API of each Organization. Routes stand in their own files;
// what all of them share (limits, error documents, one log line per request) stands here.
import { randomUUID } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { SealFault, type AuditBlobs } from '../archive/audit/ports.ts';
import type { SnapshotBlobs, Snapshots } from '../archive/snapshot/ports.ts';
import { createSnapshots } from '../archive/snapshot/take.ts';
import type { Authority, ServiceSigners } from '../authority/ports.ts';
import { deliveringStore } from '../delivery/renditions.ts';
import type { KeyVault } from '../platform/key-vault.ts';
import type { Logger } from '../platform/logger.ts';
import { refuse } from '../protocol/refusals.ts';
import { passUnwatched, StoreFault, type AuthorityStore, type PassPoint } from '../store/port.ts';
import { BlobFault, type BlobStore } from '../store/port/blobs.ts';
import type { UploadQuota } from '../store/port/uploads.ts';
import { authRoutes } from './auth/routes.ts';
import { Challenges } from './auth/challenges.ts';
import { KeyWatch } from './auth/key-watch.ts';
import { Tokens } from './auth/tokens.ts';
import { commandRoutes } from './commands.ts';
import { contentRoutes } from './content/routes.ts';
import { HttpRefusal, refusalResponse } from './errors.ts';
import { healthRoutes } from './health.ts';
import { HeldAnswers } from './limits/held-answers.ts';
import { limitRequests } from './limits/limited.ts';
import { RequestLimits } from './limits/request-limits.ts';
import { Readiness } from './readiness.ts';
import { openapiDocument } from './openapi/document.ts';
import { declaredRoutes, Methods } from './openapi/route-table.ts';
import { descriptionRoutes } from './openapi/routes.ts';
import { operatorRoutes } from './operator/routes.ts';
import { metricsRoutes } from './metrics.ts';
import { UNOBSERVED, type HttpObserver } from './observer.ts';
import { readRoutes } from './reads/routes.ts';
import { snapshotRoutes } from './snapshots/routes.ts';
import { authenticate, Directory, type TenantEnv } from './tenancy.ts';
import { fairTurns, type Turns } from './turns.ts';
import { namesOf, watched } from './watching.ts';

export interface HttpParts {
  store: AuthorityStore;
  /** Contents of Artifacts. */
  blobs: BlobStore;
  /** Apart from them: members put contents. */
  snapshotBlobs: SnapshotBlobs;
  /** Sealed audits of archived Groups. */
  auditBlobs: Pick<AuditBlobs, 'get'>;
  /** Bytes of one content. */
  contentBytesMaximum: number;
  /** Of what one principal has put and not published. */
  uploadQuota?: UploadQuota;
  authority: Authority;
  signers: ServiceSigners;
  vault: KeyVault;
  logger: Logger;
  /** Absent: the operator API is not there. */
  operatorToken?: string;
  /** Milliseconds since 1970, for the age of tokens. */
  clock?: () => number;
  /** Milliseconds of a clock that nobody sets, for what is counted by time. */
  monotonic?: () => number;
  /** A fresh `urn:uuid:` id. */
  newId?: () => string;
  /** Random bytes for what nobody may guess, of a challenge. */
  random?: (bytes: number) => Uint8Array;
  /** True while the service stops: not ready any more. */
  isStopping?: () => boolean;
  /** Who may have a signature checked next; of its own unless a test watches. */
  turns?: Turns;
  observer?: HttpObserver;
  /** What Prometheus reads. Absent: there is no such route. */
  metricsText?: () => Promise<string>;
  /** Absent: asked of the store each time. */
  readiness?: Readiness;
  /** How long a refusal for the rate is held back; 0 where the clock does not run. */
  heldMilliseconds?: number;
  /** Of its own unless somebody stops them with the service. */
  snapshots?: Snapshots;
  pass?: PassPoint;
}

/** What the parts of the API share, made once. */
export interface Services extends Required<
  Omit<HttpParts, 'operatorToken' | 'random' | 'metricsText' | 'heldMilliseconds'>
> {
  operatorToken: string | undefined;
  held: HeldAnswers;
  directory: Directory;
  challenges: Challenges;
  tokens: Tokens;
  keys: KeyWatch;
  limits: RequestLimits;
}

/** Contents that one principal may have put and not published: some hours' work of an Agent. */
const UNPUBLISHED_MAXIMUM = 1_000;
/** What they may take together, in contents of the largest size. */
const UNPUBLISHED_LARGEST = 16;

export function createApp(parts: HttpParts): Hono {
  const { signers } = parts;
  const store = deliveringStore(parts.store, { signers, ...(parts.newId && { newId: parts.newId }) });
  const { organizations } = store;
  const { logger, monotonic = () => performance.now(), observer = UNOBSERVED } = parts;
  const services: Services = {
    ...parts,
    store,
    operatorToken: parts.operatorToken,
    clock: parts.clock ?? Date.now,
    monotonic,
    newId: parts.newId ?? (() => `urn:uuid:${randomUUID()}`),
    isStopping: parts.isStopping ?? (() => false),
    turns: parts.turns ?? fairTurns(observer),
    pass: parts.pass ?? passUnwatched,
    observer,
    uploadQuota: parts.uploadQuota ?? {
      count: UNPUBLISHED_MAXIMUM,
      bytes: UNPUBLISHED_LARGEST * parts.contentBytesMaximum,
    },
    snapshots:
      parts.snapshots ?? createSnapshots({ store: parts.store, blobs: parts.snapshotBlobs, signers: parts.signers }),
    readiness: parts.readiness ?? new Readiness({ database: () => parts.store.problems() }),
    directory: new Directory(organizations),
    challenges: new Challenges(parts.vault, parts.random),
    tokens: new Tokens(parts.vault),
    keys: new KeyWatch(organizations),
    held: new HeldAnswers(parts.heldMilliseconds),
    limits: new RequestLimits({ organizations, logger, monotonic }),
  };
  const app = new Hono();
  app.use(watched(observer, parts.logger));
  app.use(async (c, next) => {
    // Of tenants and operators, nothing may be kept by anybody on the way. Said before there is an answer: one that is
    // changed afterwards is built a second time, as a stream.
    c.header('Cache-Control', 'no-store');
    c.header('X-Content-Type-Options', 'nosniff');
    await next();
  });
  app.onError((error, c) => {
    if (error instanceof HttpRefusal) return refusalResponse(c, error.refusal, error.context);
    return faultResponse(c, error, parts.logger);
  });
  app.notFound((c) => noSuchRoute(c, methods.of(c.req.path)));
  app.route('/', healthRoutes(services));
  const { metricsText: text, operatorToken } = parts;
  if (text) app.route('/', metricsRoutes({ text, operatorToken, monotonic, held: services.held }));
  app.route(
    '/',
    descriptionRoutes(() => description),
  );
  app.route('/v1/operator', operatorRoutes(services));
  app.route('/v1/orgs/:slug', tenantRoutes(services));
  const routes = declaredRoutes(app.routes);
  const methods = new Methods(routes);
  const description = JSON.stringify(openapiDocument(routes));
  return app;
}

/** Everything but the two steps of a login needs a token, unknown paths included. */
function tenantRoutes(services: Services): Hono<TenantEnv> {
  const tenant = new Hono<TenantEnv>();
  tenant.route('/auth', authRoutes(services));
  tenant.use('*', authenticate(services));
  tenant.use('*', limitRequests(services.limits, services.held));
  tenant.route('/', commandRoutes(services));
  tenant.route('/', readRoutes(services));
  tenant.route('/', contentRoutes(services));
  tenant.route('/', snapshotRoutes(services));
  tenant.all('*', (c) => c.notFound());
  return tenant;
}

/** Told apart by whether the path has other methods, which are then named (RFC 9110, 15.5.6). */
function noSuchRoute(c: Context, methods: readonly string[]): Response {
  if (methods.length === 0) {
    return refusalResponse(c, refuse('PROTOCOL_VIOLATION', 'no such path'), { status: 404 });
  }
  c.header('Allow', methods.join(', '));
  return refusalResponse(c, refuse('PROTOCOL_VIOLATION', 'no such method of this path'), { status: 405 });
}

/** Nothing of a fault reaches the client but that it may try again. */
function faultResponse(c: Parameters<typeof refusalResponse>[0], error: Error, logger: Logger): Response {
  if (error instanceof StoreFault && error.kind !== 'corrupt') {
    logger.warn({ ...namesOf(c), err: error, path: c.req.path }, 'the database did not answer');
    return refusalResponse(c, refuse('INTERNAL_ERROR', 'the service cannot answer now'));
  }
  if (error instanceof BlobFault && error.kind === 'unavailable') {
    logger.warn({ ...namesOf(c), err: error, path: c.req.path }, 'the contents cannot be reached');
    return refusalResponse(c, refuse('INTERNAL_ERROR', 'the service cannot answer now'));
  }
  if (error instanceof SealFault) {
    logger.error({ ...namesOf(c), err: error, path: c.req.path }, 'a sealed audit does not open');
    return refusalResponse(c, refuse('INTERNAL_ERROR', 'the sealed audit does not open'), { status: 500 });
  }
  logger.error({ ...namesOf(c), err: error, path: c.req.path }, 'a request failed');
  return refusalResponse(c, refuse('INTERNAL_ERROR', 'the service failed'), { status: 500 });
}
