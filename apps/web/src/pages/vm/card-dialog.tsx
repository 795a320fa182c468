import { useState } from 'react'

import type { ConnectionDocument } from '../../api/documents.ts'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import {
  allocationModes,
  whyNotCard,
  writtenCard,
  type WrittenCard,
} from '../../model/networks/cards.ts'
import { en } from '../../text/en.ts'

interface CardDialogProps {
  /** undefined: a new card. */
  readonly card: ConnectionDocument | undefined
  /** The names of the networks that it may be on. */
  readonly networks: readonly string[]
  readonly onSave: (card: WrittenCard) => void
  readonly onClose: () => void
}

/** The network of a card, and where its address comes from. */
export function CardDialog({ card, networks, onSave, onClose }: CardDialogProps) {
  const [wanted, setWanted] = useState<WrittenCard>(
    card ? writtenCard(card) : { network: networks[0] ?? '', mode: 'POOL', address: '' },
  )
  const options = [...new Set([wanted.network, ...networks])].filter((name) => name !== '')
  return (
    <FormDialog
      title={card ? `Change card ${card.networkConnectionIndex}` : 'Add card'}
      onClose={onClose}
      onSubmit={() => onSave(wanted)}
      action={card ? 'Save changes' : 'Add card'}
      unavailable={whyNotCard(wanted)}
    >
      <SelectField
        label="Network"
        value={wanted.network}
        options={options.map((name) => ({ value: name, text: name }))}
        onChange={(network) => setWanted({ ...wanted, network })}
      />
      <SelectField
        label="Address"
        value={wanted.mode}
        options={allocationModes.map((mode) => ({ value: mode, text: en.allocationMode[mode] }))}
        onChange={(mode) => setWanted({ ...wanted, mode: mode as WrittenCard['mode'] })}
      />
      {wanted.mode === 'MANUAL' && (
        <TextField
          label="IP address"
          placeholder="192.168.10.7"
          value={wanted.address}
          onChange={(event) => setWanted({ ...wanted, address: event.target.value.trim() })}
        />
      )}
    </FormDialog>
  )
}
