import { checked } from '../../base/operations/checked.ts';
import type { Feature } from '../feature.ts';
import { feedback } from './declaration.ts';
import { feedbackOf } from './operations/feedback.ts';
import type { Feedback } from './types.ts';

export const feedbackFeature = (): Feature<{ feedback: Feedback }> => ({
  operations: (_, db) => ({ feedback: checked(feedback, feedbackOf(db)) }),
});
