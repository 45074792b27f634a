// What the parts of the service tell of their work, put into metrics, and into spans where traces are on. Labels come from
// closed lists: a sender's own word is never one.
import type { AuthorityObserver, Conclusion } from '../authority/observer.ts';
import { commandKindOf } from '../domain/commands/catalogue.ts';
import type { ErrorCode } from '../protocol/refusals.ts';
import type { TrustStage } from '../trust/diagnostic.ts';
import type {
  AcceptancePhase,
  PoolFigures,
  QueueFigures,
  QueueName,
  RoundTrip,
  StoreObserver,
  TransactionPurpose,
} from '../store/observer.ts';
import { instrumentsOf, type Instruments } from './instruments.ts';
import { TenantLabels, type Metrics } from './metrics.ts';
import type { Logger } from './logger.ts';
import { StatementNames } from './statement-names.ts';
import type { TraceParent, Tracing } from './tracing.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER = 'other';

export class Observation implements StoreObserver, AuthorityObserver {
  readonly metrics: Metrics;
  private readonly of: Instruments;
  private readonly tracing: Tracing | undefined;
  private readonly tenants = new TenantLabels();
  private readonly statements = new StatementNames();
  private readonly queues = new Map<QueueName, () => QueueFigures>();
  private pool: (() => PoolFigures) | undefined;

  private readonly logger: Logger;

  constructor(metrics: Metrics, logger: Logger, tracing?: Tracing) {
    this.metrics = metrics;
    this.of = instrumentsOf(metrics);
    this.logger = logger;
    this.tracing = tracing;
    this.readFigures();
  }

  /** What is not told but asked for, whenever somebody reads the metrics. */
  private readFigures(): void {
    this.metrics.gauge('queue_jobs', 'Jobs at work and waiting.', ['queue', 'state'] as const, (gauge) => {
      for (const [queue, figures] of this.queues) {
        const { active, waiting } = figures();
        gauge.set({ queue, state: 'active' }, active);
        gauge.set({ queue, state: 'waiting' }, waiting);
      }
    });
    const states = ['state'] as const;
    this.metrics.gauge('database_pool_connections', 'Connections: limit, idle, in use.', states, (gauge) => {
      if (!this.pool) return;
      const { size, open, idle } = this.pool();
      gauge.set({ state: 'limit' }, size);
      gauge.set({ state: 'idle' }, idle);
      gauge.set({ state: 'in_use' }, open - idle);
    });
    this.metrics.gauge('database_pool_waiting', 'Transactions that wait for a connection.', [], (gauge) => {
      gauge.set(this.pool?.().waiting ?? 0);
    });
  }

  // --- requests ---------------------------------------------------------------------------------------------------

  async request(parent: TraceParent | undefined, work: (traceId: string | undefined) => Promise<void>): Promise<void> {
    this.of.underWay.inc();
    try {
      await (this.tracing ? this.tracing.request(parent, work) : work(parent?.traceId));
    } finally {
      this.of.underWay.dec();
    }
  }

  answered(request: AnsweredRequest): void {
    const { route, status, code, began, requestId } = request;
    const method = METHODS.has(request.method) ? request.method : OTHER;
    this.of.requests.inc({ method, route, status });
    this.of.requestSeconds.observe({ method, route }, secondsSince(began));
    if (code !== undefined) this.of.refusals.inc({ code });
    this.tracing?.describe(
      {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'mwp.request_id': requestId,
        'mwp.code': code,
      },
      { name: `${method} ${route}`, failed: status >= 500 },
    );
  }

  loginStepEnded(step: 'login' | 'session' | 'refresh', outcome: 'accepted' | 'refused'): void {
    const counters = { login: this.of.logins, session: this.of.sessions, refresh: this.of.refreshes };
    counters[step].inc({ outcome });
  }

  // --- Commands ---------------------------------------------------------------------------------------------------

  prepared(began: number): void {
    this.of.phaseSeconds.observe({ phase: 'prepare' }, secondsSince(began));
    this.tracing?.ended('prepare', began);
  }

  concluded(conclusion: Conclusion): void {
    const { organization, outcome, kind: sent, groupId, actionId, requestId, began } = conclusion;
    const { slug, organizationId } = organization;
    const isRefused = outcome !== 'accepted' && outcome !== 'duplicate';
    const kind = sent !== undefined && commandKindOf(sent) ? sent : OTHER;
    const seconds = secondsSince(began);
    const tenant = this.tenants.of(slug);
    this.of.commands.inc({ kind, outcome });
    this.of.commandSeconds.observe({ outcome: isRefused ? 'refused' : outcome }, seconds);
    this.of.tenantCommands.inc({ tenant, outcome: isRefused ? 'refused' : outcome });
    this.of.tenantSeconds.inc({ tenant }, seconds);
    this.tracing?.describe({
      'mwp.tenant': slug,
      'mwp.command_kind': kind,
      'mwp.group_id': groupId,
      'mwp.action_id': actionId,
      'mwp.outcome': outcome,
    });
    // A line for each would be the log's whole content; what was refused is told by the transport.
    if (isRefused || !this.logger.isLevelEnabled('debug')) return;
    const about = { requestId, tenant: organizationId, groupId, actionId, kind, duplicate: outcome === 'duplicate' };
    this.logger.debug(about, 'a Command was accepted');
  }

  distrusted(stage: TrustStage): void {
    this.of.distrusted.inc({ stage });
  }

  startedOver(reason: 'conflict' | 'registry_moved'): void {
    this.of.restarts.inc({ reason });
  }

  clockBehind(): void {
    this.of.clockAlarms.inc();
  }

  acceptance<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.tracing ? this.tracing.within('acceptance', work) : work();
  }

  phaseEnded(phase: AcceptancePhase, began: number): void {
    this.of.phaseSeconds.observe({ phase }, secondsSince(began));
    this.tracing?.ended(phase, began);
  }

  transitionsCommitted(count: number): void {
    this.of.batches.observe(count);
  }

  auditRecorded(): void {
    this.of.audited.inc();
  }

  auditLost(): void {
    this.of.auditsLost.inc();
  }

  // --- beside the traffic -----------------------------------------------------------------------------------------

  lookedAfterGroup({ sealed, snapshotThrough }: { sealed: number; snapshotThrough?: number }): void {
    this.of.segments.inc(sealed);
    if (snapshotThrough !== undefined) this.of.snapshots.inc();
  }

  upkeepFailed(): void {
    this.of.upkeepFailures.inc();
  }

  erasureCameTo(state: 'due' | 'taken' | 'removed' | 'scrubbed'): void {
    this.of.erasures.inc({ state });
  }

  erasureFailed(): void {
    this.of.erasureFailures.inc();
  }

  // --- queues and the database ------------------------------------------------------------------------------------

  queueOpened(queue: QueueName, figures: () => QueueFigures): void {
    this.queues.set(queue, figures);
  }

  turnCame(queue: QueueName, asked: number): void {
    this.of.queueSeconds.observe({ queue }, secondsSince(asked));
    this.tracing?.ended(`turn ${queue}`, asked);
  }

  turnRefused(queue: QueueName): void {
    this.of.queueRefusals.inc({ queue });
  }

  roundTripEnded({ statements, began, failed }: RoundTrip): void {
    const statement = this.statements.of(statements);
    this.of.tripSeconds.observe({ statement }, secondsSince(began));
    if (failed) this.of.tripFailures.inc();
    this.tracing?.ended(`database ${statement}`, began, {
      'db.system.name': 'postgresql',
      'db.operation.name': statement,
      'db.operation.batch.size': statements.length,
    });
  }

  transactionEnded(purpose: TransactionPurpose, roundTrips: number): void {
    this.of.tripsOfTransactions.observe({ purpose }, roundTrips);
  }

  retried(reason: string): void {
    this.of.retries.inc({ reason });
  }

  poolOpened(figures: () => PoolFigures): void {
    this.pool = figures;
  }

  connectionOpened(): void {
    this.of.opened.inc();
  }

  connectionLost(): void {
    this.of.lost.inc();
  }

  tracesLost(): void {
    this.of.traceFailures.inc();
  }
}

export interface AnsweredRequest {
  method: string;
  /** As registered: `/v1/orgs/:slug/commands`. */
  route: string;
  status: number;
  /** Of the error document, where the answer is one. */
  code: ErrorCode | undefined;
  /** `performance.now()` when it came. */
  began: number;
  requestId: string;
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1_000;
}
