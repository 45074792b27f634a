// What the HTTP surface tells of its requests to whoever watches the service. Routes are patterns, never paths.
import type { AnsweredRequest } from '../platform/observation.ts';
import type { TraceParent } from '../platform/tracing.ts';
import { UNOBSERVED as UNOBSERVED_STORE, type QueueObserver } from '../store/observer.ts';

export type LoginStep = 'login' | 'session' | 'refresh';

export interface HttpObserver extends QueueObserver {
  /** Runs the answering of one request. `traceId`: where it has one. Passes on whatever comes of `work`. */
  request(parent: TraceParent | undefined, work: (traceId: string | undefined) => Promise<void>): Promise<void>;
  /** Once for each request, inside of `request`. */
  answered(request: AnsweredRequest): void;
  loginStepEnded(step: LoginStep, outcome: 'accepted' | 'refused'): void;
}

/** Nobody watches. */
export const UNOBSERVED: HttpObserver = {
  ...UNOBSERVED_STORE,
  request: (parent, work) => work(parent?.traceId),
  answered: () => undefined,
  loginStepEnded: () => undefined,
};
