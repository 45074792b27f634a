// What is done beside the traffic, told to log and metrics. Part of the composition.
import type { ErasureDone, ErasureTold } from './archive/erasure/erasures.ts';
import type { Told, UpkeepOptions } from './archive/upkeep/upkeep.ts';
import type { Logger } from './platform/logger.ts';
import type { Observation } from './platform/observation.ts';

export function toldOfUpkeep(logger: Logger, observation: Observation): Pick<UpkeepOptions, 'looked' | 'failed'> {
  const aboutOf = ({ organization, groupId }: Partial<Told>) => ({ tenant: organization?.organizationId, groupId });
  return {
    looked: (look, about) => {
      observation.lookedAfterGroup(look);
      logger.info({ ...aboutOf(about), ...look }, 'looked after a Group');
    },
    failed: (err, about) => {
      observation.upkeepFailed();
      logger.error({ ...aboutOf(about), err }, 'could not look after a Group');
    },
  };
}

export function toldOfErasures(logger: Logger, observation: Observation): ErasureTold {
  const aboutOf = ({ organization, groupId, orderedBy }: Omit<ErasureDone, 'state'>) => ({
    tenant: organization.organizationId,
    groupId,
    orderedBy,
  });
  return {
    done: (step) => {
      observation.erasureCameTo(step.state);
      logger.info({ ...aboutOf(step), state: step.state }, 'erased');
    },
    failed: (err, about) => {
      observation.erasureFailed();
      logger.error({ ...aboutOf(about), err }, 'could not erase yet');
    },
  };
}
