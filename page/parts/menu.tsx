import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Puts actions that should not happen by accident behind an extra button. Closes on Escape, when a dialog opened from
 * it closes, and when the reader clicks or focuses something else.
 */
export function Menu({
  title = 'More…',
  kind = '',
  onToggle,
  children,
}: {
  title?: ComponentChildren;
  /** Classes, such as `from-start` for a menu below the start of its button. */
  kind?: string;
  onToggle?: (open: boolean) => void;
  children: ComponentChildren;
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  useEffect(() => {
    const elsewhere = ({ target }: Event) => {
      if (!menu.current?.contains(target as Node)) close();
    };
    const dialogClosed = () => closeMenu(menu.current!);
    // `close` events do not bubble, so listen while they are captured
    menu.current!.addEventListener('close', dialogClosed, true);
    addEventListener('pointerdown', elsewhere);
    addEventListener('focusin', elsewhere);
    return () => {
      removeEventListener('pointerdown', elsewhere);
      removeEventListener('focusin', elsewhere);
    };
  }, []);
  const onKey = (event: KeyboardEvent) => {
    // Escape in a dialog of the menu closes only the dialog
    if (event.key === 'Escape' && menu.current!.open && !(event.target as Element).closest('dialog')) {
      event.preventDefault();
      closeMenu(menu.current!);
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') step(event, menu.current!);
  };
  return (
    <details
      class={`menu ${kind}`.trim()}
      ref={menu}
      onKeyDown={onKey}
      onToggle={({ currentTarget }) => onToggle?.(currentTarget.open)}
    >
      <summary>{title}</summary>
      <div class="menu-items">{children}</div>
    </details>
  );
}

/** Runs its action at once, without a dialog. */
export const MenuItem = ({ onClick, children }: { onClick: () => Promise<unknown>; children: ComponentChildren }) => (
  <button
    type="button"
    class="danger"
    onClick={({ currentTarget }) => {
      closeMenu(currentTarget.closest('details')!);
      void onClick();
    }}
  >
    {children}
  </button>
);

/** Arrow keys move from item to item. */
function step(event: KeyboardEvent, menu: HTMLDetailsElement): void {
  if ((event.target as Element).matches('select, input:not([type=search])')) return;
  const items = [...menu.querySelectorAll<HTMLElement>('summary, .menu-items :is(button, a, input)')];
  items[items.indexOf(event.target as HTMLElement) + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
  event.preventDefault();
}

export function closeMenu(menu: HTMLDetailsElement): void {
  menu.open = false;
  menu.querySelector('summary')!.focus();
}
