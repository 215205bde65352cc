import { alarmsFeature } from '../features/alarms/feature.ts';
import { circuitsFeature } from '../features/circuits/feature.ts';
import { evalsFeature } from '../features/evals/feature.ts';
import { feedbackFeature } from '../features/feedback/feature.ts';
import { monitorsFeature } from '../features/monitors/feature.ts';
import { schedulesFeature } from '../features/schedules/feature.ts';
import { webhooksFeature } from '../features/webhooks/feature.ts';
import type { LanefoldSettings } from './settings.ts';

export type LanefoldFeatures = ReturnType<typeof featuresOf>;

/** What Lanefold adds to runs. */
export const featuresOf = ({
  schedules,
  scorers,
  privateWebhooks,
  circuits,
}: Pick<LanefoldSettings, 'schedules' | 'scorers' | 'privateWebhooks' | 'circuits'>) =>
  [
    schedulesFeature(schedules),
    webhooksFeature(privateWebhooks),
    evalsFeature(scorers),
    monitorsFeature(scorers),
    alarmsFeature(),
    feedbackFeature(),
    circuitsFeature(circuits),
  ] as const;
