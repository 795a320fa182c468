import { useState } from 'react'

import type { ConnectionDocument } from '../../api/documents.ts'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import {
  modesOn,
  onNetwork,
  whyNotCard,
  writtenCard,
  type WrittenCard,
} from '../../model/networks/cards.ts'
import type { NetworkKind } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'

interface CardNetwork {
  readonly name: string
  readonly kind: NetworkKind
}

interface CardDialogProps {
  /** undefined: a new card. */
  readonly card: ConnectionDocument | undefined
  /** The networks that it may be on. */
  readonly networks: readonly CardNetwork[]
  readonly onSave: (card: WrittenCard) => void
  readonly onClose: () => void
}

/** The network of a card, and where its address comes from. */
export function CardDialog({ card, networks, onSave, onClose }: CardDialogProps) {
  const kindOf = (name: string) => networks.find((each) => each.name === name)?.kind
  const [wanted, setWanted] = useState<WrittenCard>(() => {
    if (card) return writtenCard(card)
    const [{ name, kind } = { name: '', kind: undefined }] = networks
    return onNetwork({ network: '', mode: 'POOL', address: '' }, { name, kind })
  })
  const names = networks.map(({ name }) => name)
  const options = [...new Set([wanted.network, ...names])].filter((name) => name !== '')
  const kind = kindOf(wanted.network)
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
        hint={kind === 'direct' ? en.networkMeaning.direct : undefined}
        onChange={(name) => setWanted(onNetwork(wanted, { name, kind: kindOf(name) }))}
      />
      <SelectField
        label="Address"
        value={wanted.mode}
        options={modesOn(kind).map((mode) => ({
          value: mode,
          text: kind === 'direct' ? en.directMode(mode) : en.allocationMode[mode],
        }))}
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
