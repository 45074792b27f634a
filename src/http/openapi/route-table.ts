// The routes of the application as it really is, each with its declaration: what the document lists, and what a wrong
// method is told that it may use.
import type { Hono } from 'hono';
import { operationOf, type Operation } from './operation.ts';

export interface DeclaredRoute {
  /** In small letters, as the document writes it. */
  method: string;
  /** `/v1/orgs/{slug}/me` */
  path: string;
  operation: Operation;
}

type Routes = Pick<Hono, 'routes'>['routes'];

/** Throws when a route has no declaration: nothing is served that the document does not describe. */
export function declaredRoutes(routes: Routes): DeclaredRoute[] {
  const found = new Map<string, DeclaredRoute | undefined>();
  for (const { method, path, handler } of routes) {
    if (method === 'ALL') continue; // what stands before or behind the routes
    const operation = operationOf(handler);
    const key = `${method} ${path}`;
    if (operation) found.set(key, { method: method.toLowerCase(), path: templateOf(path), operation });
    else if (!found.has(key)) found.set(key, undefined); // a middleware of the route, perhaps
  }
  return [...found].map(([key, route]) => {
    if (!route) throw new Error(`${key} has no declaration: wrap its handler in declared(…) (src/http/openapi)`);
    return route;
  });
}

function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** Names of the parameters in a template, in order. */
export function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

/** The methods of each path, for the `Allow` of a 405. */
export class Methods {
  private readonly ofPaths: { pattern: RegExp; methods: string[] }[];

  constructor(routes: readonly DeclaredRoute[]) {
    const byPath = new Map<string, string[]>();
    for (const { path, method } of routes) byPath.set(path, [...(byPath.get(path) ?? []), method.toUpperCase()]);
    this.ofPaths = [...byPath].map(([path, methods]) => ({
      pattern: patternOf(path),
      methods: methods.includes('GET') ? ['HEAD', ...methods].sort() : methods.sort(),
    }));
  }

  /** `path` as it came, still percent-encoded. Empty: there is no such path. */
  of(path: string): readonly string[] {
    return this.ofPaths.find(({ pattern }) => pattern.test(path))?.methods ?? [];
  }
}

/** Of a template: every parameter is one segment that is not empty. */
export function patternOf(path: string): RegExp {
  const escaped = path.split(/\{\w+\}/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('[^/]+')}$`);
}
