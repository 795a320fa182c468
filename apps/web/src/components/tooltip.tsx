import { Tooltip } from '@base-ui/react/tooltip'

import style from './tooltip.module.css'

/** One tooltip for the whole page; every trigger gives its text as the payload. */
export const tooltip = Tooltip.createHandle<string>()

export const PageTooltip = () => (
  <Tooltip.Root handle={tooltip}>
    {({ payload }) => (
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className={style['positioner']}>
          <Tooltip.Popup className={style['tooltip']}>{payload}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    )}
  </Tooltip.Root>
)
