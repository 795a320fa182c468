-- Its network card as its host saw it last: the network of its organisation there, and the address that it keeps as long as it is
-- placed there. Null before its host has told, and where it is on no such network.
alter table vm
  add column network text collate "C",
  add column mac text collate "C",
  add column address text collate "C";
