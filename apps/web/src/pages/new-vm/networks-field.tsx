import { Button } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { CARDS_MAX } from '../../model/networks/cards.ts'

import page from '../../styles/page.module.css'

interface NetworksFieldProps {
  /** The names of the networks that VMs of the data centre may be on. */
  readonly available: readonly string[]
  /** One for each card; none: the network called default. */
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

const DEFAULT = 'default'

/** The networks of a new VM: one card for each. */
export function NetworksField({ available, chosen, onChange }: NetworksFieldProps) {
  if (available.length === 0) return null
  // The first VM of an organisation makes the default network.
  const names = [...new Set([DEFAULT, ...available])]
  const cards = chosen.length === 0 ? [DEFAULT] : chosen
  const choose = (next: readonly string[]): void =>
    onChange(next.length === 1 && next[0] === DEFAULT ? [] : next)
  return (
    <div className={page['stack']}>
      {cards.map((network, index) => (
        // A card has no name but its place.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className={page['withButton']}>
          <SelectField
            label={cards.length === 1 ? 'Network' : `Network of card ${index}`}
            value={network}
            options={names.map((name) => ({ value: name, text: name }))}
            onChange={(next) => choose(cards.with(index, next))}
          />
          {cards.length > 1 && (
            <Button
              icon="trash"
              label={`Remove card ${index}`}
              onClick={() => choose(cards.toSpliced(index, 1))}
            />
          )}
        </div>
      ))}
      <div>
        <Button
          small
          icon="plus"
          unavailable={cards.length < CARDS_MAX ? undefined : `a VM has ${CARDS_MAX} at most`}
          onClick={() =>
            choose([...cards, available.find((name) => !cards.includes(name)) ?? DEFAULT])
          }
        >
          Add card
        </Button>
      </div>
    </div>
  )
}
