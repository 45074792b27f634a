// What an agent books on its WorkItem, and how the telling says it.

import { CURRENCY } from './contract.ts';

export interface Usage {
  readonly financialMicrounits?: number;
  readonly modelTokens?: number;
  readonly toolCalls?: number;
  readonly externalActions?: number;
}

export function usageInWords(usage: Usage): string {
  const { modelTokens, toolCalls, financialMicrounits, externalActions } = usage;
  const parts = [
    modelTokens !== undefined && `${modelTokens.toLocaleString('en-US')} tokens`,
    toolCalls !== undefined && `${toolCalls} tool calls`,
    externalActions !== undefined && `${externalActions} external action`,
    financialMicrounits !== undefined && `${(financialMicrounits / 1_000_000).toFixed(2)} ${CURRENCY}`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}
