IF to_regprocedure('{{schema}}.flakeid_own_node()') IS NOT NULL THEN
  IF {{schema}}.flakeid_own_node() <> {{node}} THEN
    RAISE EXCEPTION USING ERRCODE = 'IDOPT', MESSAGE = format(
      'FLAKEID_INVALID_OPTION: node: the schema %s generates IDs of node %s, not {{node}}',
      '{{schema}}', {{schema}}.flakeid_own_node()),
      HINT = 'To change the node, call {{schema}}.flakeid_rearm({{rearm_arguments}}).';
  END IF;
END IF;
