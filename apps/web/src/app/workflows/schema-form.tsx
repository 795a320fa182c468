// A form from a JSON Schema, field by field or as JSON.
import { useId, useState } from 'react'

import { Button } from '../../components/button.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../components/field.tsx'
import {
  draftOf,
  fieldsOf,
  kindOf,
  labelOf,
  readDraft,
  type FormDraft,
  type FormErrors,
  type FormSchema,
} from '../../model/schema-form.ts'

import page from '../../styles/page.module.css'
import style from './schema-form.module.css'

export interface SchemaForm {
  readonly draft: FormDraft
  readonly json: string | undefined
  /** Shown once the user has tried to send the form. */
  readonly errors: FormErrors
  /** The value, or undefined while something is wrong. */
  readonly value: Readonly<Record<string, unknown>> | undefined
  readonly setDraft: (draft: FormDraft) => void
  /** undefined: field by field. */
  readonly setJson: (json: string | undefined) => void
  /** Shows the errors; returns the value if there are none. */
  readonly submit: () => Readonly<Record<string, unknown>> | undefined
}

/** The state of a form. It starts again where `schema` or `given` is another object. */
export function useSchemaForm(schema: FormSchema | undefined, given?: unknown): SchemaForm {
  const [edited, setEdited] = useState<{ of: unknown; with: unknown; draft: FormDraft }>()
  const [json, setJson] = useState<string>()
  const [isTried, setTried] = useState(false)
  const object: FormSchema = { type: 'object', properties: {}, ...schema }
  const isSame = edited?.of === schema && edited?.with === given
  const draft = isSame && edited ? edited.draft : draftOf(object, given)
  const result = json === undefined ? readDraft(object, draft) : readJson(json)
  const value =
    result.errors.size === 0 ? (result.value as Readonly<Record<string, unknown>>) : undefined
  return {
    draft,
    json,
    errors: isTried ? result.errors : new Map(),
    value,
    setDraft: (next) => setEdited({ of: schema, with: given, draft: next }),
    setJson(next) {
      if (next === undefined && json !== undefined) {
        const read = readJson(json)
        if (read.errors.size === 0)
          setEdited({ of: schema, with: given, draft: draftOf(object, read.value) })
      }
      setJson(next)
    },
    submit() {
      setTried(true)
      return value
    },
  }
}

function readJson(text: string) {
  try {
    const value = JSON.parse(text) as unknown
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isObject) return { value, errors: new Map<string, string>() }
  } catch {
    // The message of the browser differs from one to the other.
  }
  return { value: {}, errors: new Map([['', 'Enter a JSON object, such as {"name": "web"}']]) }
}

interface SchemaFieldsProps {
  readonly schema: FormSchema
  readonly form: SchemaForm
}

export function SchemaFields({ schema, form }: SchemaFieldsProps) {
  const { draft, json, errors, setDraft, setJson } = form
  const isJson = json !== undefined
  return (
    <div className={page['fields']}>
      {isJson ? (
        <TextArea
          label="Inputs as JSON"
          rows={10}
          value={json}
          error={errors.get('')}
          onChange={(event) => setJson(event.target.value)}
        />
      ) : (
        <GroupFields
          schema={schema}
          draft={draft}
          path=""
          errors={errors}
          onChange={(next) => setDraft(next)}
        />
      )}
      {errors.size > 0 && (
        <p className={page['bad']} role="alert">
          {errors.size === 1 ? 'One field needs' : `${errors.size} fields need`} your attention.
        </p>
      )}
      <div>
        <Button
          small
          tone="plain"
          icon="keys"
          onClick={() =>
            setJson(
              isJson ? undefined : JSON.stringify(readDraft(schema, draft).value, undefined, 2),
            )
          }
        >
          {isJson ? 'Edit as a form' : 'Edit as JSON'}
        </Button>
      </div>
    </div>
  )
}

interface DraftProps {
  readonly schema: FormSchema
  readonly draft: FormDraft
  readonly path: string
  readonly errors: FormErrors
  readonly onChange: (draft: FormDraft) => void
}

function GroupFields({ schema, draft, path, errors, onChange }: DraftProps) {
  const drafts = draft as Readonly<Record<string, FormDraft>>
  const fields = fieldsOf(schema)
  if (fields.length === 0) return <p className={page['soft']}>No inputs.</p>
  return fields.map(({ name, schema: own, isRequired }) => (
    <DraftField
      key={name}
      label={isRequired ? `${labelOf(name, own)} (required)` : labelOf(name, own)}
      schema={own}
      draft={drafts[name] ?? draftOf(own)}
      path={`${path}/${name}`}
      errors={errors}
      onChange={(next) => onChange({ ...drafts, [name]: next })}
    />
  ))
}

const inputTypes: Readonly<Record<string, string>> = {
  secret: 'password',
  date: 'date',
  time: 'datetime-local',
}

function DraftField({ label, ...field }: DraftProps & { readonly label: string }) {
  const { schema, draft, path, errors, onChange } = field
  const kind = kindOf(schema)
  const described = { label, hint: schema.description, error: errors.get(path) }
  const text = typeof draft === 'string' ? draft : ''
  if (kind === 'group' || kind === 'list') return <FieldGroup label={label} {...field} />
  if (kind === 'flag') {
    return (
      <div>
        <CheckField label={label} checked={draft === true} onChange={onChange} />
        {schema.description !== undefined && (
          <small className={page['small']}>{schema.description}</small>
        )}
      </div>
    )
  }
  if (kind === 'choice') {
    const choices = (schema.enum ?? []).map((each) => ({
      value: JSON.stringify(each),
      text: typeof each === 'string' ? each : JSON.stringify(each),
    }))
    return (
      <SelectField
        {...described}
        value={text}
        options={[{ value: '', text: 'Choose…' }, ...choices]}
        onChange={onChange}
      />
    )
  }
  if (kind === 'json') {
    return (
      <TextArea
        {...described}
        rows={4}
        placeholder="JSON"
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  return (
    <TextField
      {...described}
      type={inputTypes[kind] ?? 'text'}
      inputMode={kind === 'number' ? 'decimal' : undefined}
      autoComplete={kind === 'secret' ? 'new-password' : 'off'}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** An object or a list, whose fields are inside a frame. */
function FieldGroup({ label, ...field }: DraftProps & { readonly label: string }) {
  const { schema, errors, path } = field
  const id = useId()
  const error = errors.get(path)
  return (
    <fieldset className={style['group']} aria-describedby={error && `${id}-error`}>
      <legend>{label}</legend>
      {schema.description !== undefined && (
        <small className={page['small']}>{schema.description}</small>
      )}
      {kindOf(schema) === 'group' ? <GroupFields {...field} /> : <ListFields {...field} />}
      {error !== undefined && (
        <small id={`${id}-error`} className={page['bad']}>
          {error}
        </small>
      )}
    </fieldset>
  )
}

function ListFields({ schema, draft, path, errors, onChange }: DraftProps) {
  const items = schema.items ?? {}
  const drafts = Array.isArray(draft) ? (draft as readonly FormDraft[]) : []
  return (
    <>
      {drafts.map((each, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- items of a list have no other identity
        <div key={at} className={style['item']}>
          <DraftField
            label={labelOf(`Item ${at + 1}`, items)}
            schema={items}
            draft={each}
            path={`${path}/${at}`}
            errors={errors}
            onChange={(next) => onChange(drafts.map((old, n) => (n === at ? next : old)))}
          />
          <Button
            tone="plain"
            icon="trash"
            label={`Remove item ${at + 1}`}
            onClick={() => onChange(drafts.filter((_, n) => n !== at))}
          />
        </div>
      ))}
      <div>
        <Button small icon="plus" onClick={() => onChange([...drafts, draftOf(items)])}>
          Add item
        </Button>
      </div>
    </>
  )
}
