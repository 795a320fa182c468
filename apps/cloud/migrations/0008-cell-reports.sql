-- What a cell reports about itself with every heartbeat, for administrators. A cell of an older version reports none of it.
alter table cell add column version text;
-- Its health conditions: [{ "name", "ok", "since", "message" }], in the order in which it checked them first.
alter table cell add column conditions jsonb not null default '[]';
