// Every metric of the service: its name, what it says and which labels it has. All labels are taken from closed lists, but
// for the tenant, which is bounded (metrics.ts). docs/operation.md shows this list to operators.
import type { Metrics } from './metrics.ts';

/** Round trips that one transaction can sensibly take. */
const TRIPS = [1, 2, 3, 4, 5, 8, 16, 32];
/** Transitions of one commit. */
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128];

export function instrumentsOf(metrics: Metrics) {
  return { ...ofRequests(metrics), ...ofCommands(metrics), ...ofUpkeep(metrics), ...ofStore(metrics) };
}

export type Instruments = ReturnType<typeof instrumentsOf>;

function ofRequests(m: Metrics) {
  return {
    requests: m.counter('http_requests_total', 'Requests answered.', ['method', 'route', 'status'] as const),
    requestSeconds: m.seconds(
      'http_request_duration_seconds',
      'From the head of a request to its answer.',
      ['method', 'route'] as const,
      'a request',
    ),
    underWay: m.gauge('http_requests_under_way', 'Requests that are being answered.'),
    refusals: m.counter('http_refusals_total', 'Error documents answered, by protocol code.', ['code'] as const),
    logins: m.counter('logins_total', 'Answers to challenges.', ['outcome'] as const),
    sessions: m.counter('sessions_opened_total', 'Sessions that agents opened with a login.', ['outcome'] as const),
    refreshes: m.counter('token_refreshes_total', 'Tokens asked for with a token.', ['outcome'] as const),
    traceFailures: m.counter('trace_exports_failed_total', 'Batches of spans that the collector did not take.'),
  };
}

function ofCommands(m: Metrics) {
  return {
    commands: m.counter('commands_total', 'Commands answered: accepted, duplicate, or the code of the refusal.', [
      'kind',
      'outcome',
    ] as const),
    commandSeconds: m.seconds(
      'command_duration_seconds',
      'From the turn of a Command to its outcome.',
      ['outcome'] as const,
      'a request',
    ),
    phaseSeconds: m.seconds('command_phase_seconds', 'Time in one phase of the pipeline.', ['phase'] as const),
    restarts: m.counter('commands_restarted_total', 'Commands run once more on newer rows.', ['reason'] as const),
    batches: m.counts('commit_transitions', 'Accepted Commands that one commit made durable.', BATCHES),
    tenantCommands: m.counter('tenant_commands_total', 'Commands by tenant; late tenants share "other".', [
      'tenant',
      'outcome',
    ] as const),
    tenantSeconds: m.counter('tenant_command_seconds_total', 'Time that Commands of a tenant took.', [
      'tenant',
    ] as const),
    distrusted: m.counter('trust_failures_total', 'Signed documents not believed, by the first failing stage.', [
      'stage',
    ] as const),
    clockAlarms: m.counter('clock_alarms_total', 'Commands not decided because the clock was too far behind.'),
    audited: m.counter('audit_records_total', 'Records of refusals, lost ones included.'),
    auditsLost: m.counter('audit_records_lost_total', 'Records of refusals that could not be written.'),
  };
}

/** What is done beside the traffic. */
function ofUpkeep(m: Metrics) {
  return {
    snapshots: m.counter('upkeep_snapshots_total', 'Snapshots taken because one was due.'),
    segments: m.counter('upkeep_segments_total', 'Segments sealed.'),
    upkeepFailures: m.counter('upkeep_failures_total', 'Looks at a Group that failed, and are done again.'),
    erasures: m.counter('erasure_steps_total', 'Erasures that have come so far.', ['state'] as const),
    erasureFailures: m.counter('erasure_failures_total', 'Steps of erasures that failed, and are done again.'),
  };
}

function ofStore(m: Metrics) {
  return {
    queueSeconds: m.seconds('queue_wait_seconds', 'Wait for a turn.', ['queue'] as const),
    queueRefusals: m.counter('queue_refusals_total', 'Turned away: too many waited, or too long.', ['queue'] as const),
    tripSeconds: m.seconds('database_round_trip_seconds', 'Round trips to the database, by the last statement.', [
      'statement',
    ] as const),
    tripFailures: m.counter('database_round_trips_failed_total', 'Round trips that ended in an error.'),
    tripsOfTransactions: m.counts('database_transaction_round_trips', 'Round trips of one transaction.', TRIPS, [
      'purpose',
    ] as const),
    retries: m.counter('database_retries_total', 'Transactions run again after a lost race.', ['reason'] as const),
    opened: m.counter('database_connections_opened_total', 'Connections opened.'),
    lost: m.counter('database_connections_lost_total', 'Connections that broke or could not be opened.'),
  };
}
