// Who can act and sign: agents, humans and Organization services (MWP-SDV-001, common.schema.json `actor`).

export type PrincipalType = 'agent' | 'human' | 'service';

export interface Principal {
  type: PrincipalType;
  id: string;
}

/** One string for maps and keys. A URI holds no blank, so the pair can be told apart. */
export function principalKey(principal: Principal): string {
  return `${principal.type} ${principal.id}`;
}

export function samePrincipal(a: Principal, b: Principal): boolean {
  return a.type === b.type && a.id === b.id;
}
