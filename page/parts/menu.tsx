import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * What one should not do by accident, behind one more button. It closes with Escape, with a dialog that was opened from it, and
 * when the reader turns to something else.
 */
export function Menu({ label = 'More…', children }: { label?: string; children: ComponentChildren }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  useEffect(() => {
    const elsewhere = ({ target }: Event) => {
      if (!menu.current?.contains(target as Node)) close();
    };
    const dialogClosed = () => closeMenu(menu.current!);
    // such an event goes down to the dialog, and not up again
    menu.current!.addEventListener('close', dialogClosed, true);
    addEventListener('pointerdown', elsewhere);
    addEventListener('focusin', elsewhere);
    return () => {
      removeEventListener('pointerdown', elsewhere);
      removeEventListener('focusin', elsewhere);
    };
  }, []);
  const onKey = (event: KeyboardEvent) => {
    // a dialog of the menu has an Escape of its own
    if (event.key === 'Escape' && !(event.target as Element).closest('dialog')) closeMenu(menu.current!);
  };
  return (
    <details class="menu" ref={menu} onKeyDown={onKey}>
      <summary>{label}</summary>
      <div class="menu-items">{children}</div>
    </details>
  );
}

/** Does at once what it says. */
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

function closeMenu(menu: HTMLDetailsElement): void {
  menu.open = false;
  menu.querySelector('summary')!.focus();
}
