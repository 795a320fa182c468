import { Menu as BaseMenu } from '@base-ui/react/menu'
import { Fragment, type ReactElement } from 'react'

import { Icon, type IconName } from './icon.tsx'

import style from './menu.module.css'

export interface MenuItem {
  readonly text: string
  readonly icon?: IconName
  readonly shortcut?: string
  readonly isDangerous?: boolean
  /** A choice that is in effect now. */
  readonly isChecked?: boolean
  /** Why it cannot be chosen now; shown below its text. */
  readonly unavailable?: string | undefined
  readonly onSelect: () => void
}

export interface MenuGroup {
  readonly title?: string
  readonly items: readonly MenuItem[]
}

const Item = ({ item }: { readonly item: MenuItem }) => (
  <BaseMenu.Item
    className={`${style['item']} ${item.isDangerous ? style['danger'] : ''}`}
    aria-disabled={item.unavailable !== undefined || undefined}
    closeOnClick={item.unavailable === undefined}
    onClick={() => item.unavailable === undefined && item.onSelect()}
  >
    {item.isChecked ? <Icon name="check" /> : item.icon ? <Icon name={item.icon} /> : <span />}
    <span>{item.text}</span>
    {item.shortcut !== undefined && <kbd className={style['shortcut']}>{item.shortcut}</kbd>}
    {item.unavailable !== undefined && <span className={style['reason']}>{item.unavailable}</span>}
  </BaseMenu.Item>
)

const Popup = ({ groups }: { readonly groups: readonly MenuGroup[] }) => (
  <BaseMenu.Popup className={style['menu']}>
    {groups
      .filter(({ items }) => items.length > 0)
      .map(({ title, items }, index) => (
        <Fragment key={title ?? index}>
          {index > 0 && <BaseMenu.Separator className={style['separator']} />}
          <BaseMenu.Group>
            {title !== undefined && (
              <BaseMenu.GroupLabel className={style['label']}>{title}</BaseMenu.GroupLabel>
            )}
            {items.map((item) => (
              <Item key={item.text} item={item} />
            ))}
          </BaseMenu.Group>
        </Fragment>
      ))}
  </BaseMenu.Popup>
)

/** A button with a menu. */
export const Menu = ({
  trigger,
  groups,
}: {
  readonly trigger: ReactElement
  readonly groups: readonly MenuGroup[]
}) => (
  <BaseMenu.Root modal={false}>
    <BaseMenu.Trigger render={trigger} />
    <BaseMenu.Portal>
      <BaseMenu.Positioner className={style['positioner']} align="end" sideOffset={4}>
        <Popup groups={groups} />
      </BaseMenu.Positioner>
    </BaseMenu.Portal>
  </BaseMenu.Root>
)

/** One menu for all rows of a list: it opens at the button of a row. */
export const AnchoredMenu = ({
  anchor,
  groups,
  onClose,
}: {
  readonly anchor: HTMLElement | undefined
  readonly groups: readonly MenuGroup[]
  readonly onClose: () => void
}) => (
  <BaseMenu.Root
    modal={false}
    open={anchor !== undefined}
    onOpenChange={(open) => open || onClose()}
  >
    <BaseMenu.Portal>
      <BaseMenu.Positioner
        className={style['positioner']}
        anchor={anchor ?? null}
        align="end"
        sideOffset={4}
      >
        <Popup groups={groups} />
      </BaseMenu.Positioner>
    </BaseMenu.Portal>
  </BaseMenu.Root>
)
