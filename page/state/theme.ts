import { effect, signal } from '@preact/signals';

const place = 'lanefold.theme';

export type Theme = 'system' | 'light' | 'dark';
const themes: Theme[] = ['system', 'light', 'dark'];

const stored = localStorage.getItem(place) as Theme | null;
export const theme = signal<Theme>(stored && themes.includes(stored) ? stored : 'system');

export const nextTheme = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length]!;
  localStorage.setItem(place, theme.value);
};

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});
