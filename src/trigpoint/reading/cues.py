"""Cues to status and speaker: small closed classes of function words, verbs and planning terms."""

from __future__ import annotations

from trigpoint.reading.lexicon import Lexicon

CUES = Lexicon(
    {
        # verb forms
        "future": "will would shall is_to_be are_to_be to_be",
        "must": "should must ought needs_to need_to required_to expected_to shall",
        "may": "could may might can potentially",
        "past": "was were had has_been have_been",
        "present": "is are has have lies runs serves benefits adjoins comprises exists provides operates includes connects "
        "links crosses stops forms stands fronts bounds offers",
        "proposes": "is_proposed are_proposed proposed_to_be proposes also_proposed applicant_proposes is_proposing "
        "are_proposing proposed_to_provide",
        "provides": "provid* deliver* includ* incorporat* creat* install* introduc* construct* accommodat* improv* upgrad* "
        "extend* enhanc* secur* offer* widen* connect* link* fund* compris* appoint* implement* replac* relocat* "
        "plant* laid fitted contribut* formed pay paid made",
        "noun_of_provision": "provision_of delivery_of creation_of introduction_of installation_of implementation_of "
        "construction_of improvements_to enhancement_of payment_of appointment_of contribution_towards "
        "contributions_towards promotion_of inclusion_of upgrade_of upgrading_of",
        # who or what is the subject
        "scheme": "proposal proposals scheme proposed_development development applicant application proposed_scheme we "
        "design masterplan layout redevelopment our development_proposals public_realm_proposals",
        "own": "proposed new additional improved enhanced",
        "document": "transport_assessment travel_plan transport_statement planning_statement statement plan assessment "
        "strategy code",
        "policy": "policy policies nppf policy_framework of_the_framework framework_states framework_requires framework_seeks "
        "framework_advises framework_sets framework_identifies framework_encourages framework_promotes framework_expects london_plan local_plan paragraph paragraphs ltn guidance spd standards "
        "neighbourhood_plan development_plan circular act regulations legislation design_guide manual_for_streets "
        "core_policy strategic_policy transport_strategy lpg highways_act city_plan planning_practice_guidance ppg national_policy core_strategy code standard nppg",
        "policy_verb": "requires require required states state seeks seek encourages encourage expects expect supports sets_out "
        "advises promotes confirms identifies outlines recognises emphasises stipulates aims notes highlights ensures "
        "gives prioritises applies specifies recommends recommend allocates suggests allows enables explain explains makes_clear establishes provides says explains directs protects set_out identify",
        "authority": "highway_authority highways_authority tfl transport_for_london county_council council officers officer "
        "national_highways active_travel_england ate natural_england historic_england environment_agency city_corporation "
        "design_review_panel review_panel panel ecc occ lcc kcc consultee consultees gla local_planning_authority lpa lbth "
        "highways_officer design_officer urban_design police county_highways highways lldc borough_council mayor trust agency highways_england authority planning_officer",
        "objector": "residents resident neighbours objectors objector parish_council town_council representations "
        "objections third_parties local_residents respondents community_group residents'_association parish_councils "
        "concerns concern committee civic_society",
        "inspector": "inspector inspectorate appointed_inspector",
        "applicant": "applicant appellant applicant's appellant's applicants agent developer",
        "reports": "states stated considers considered consider confirms confirmed confirm advises advised argues argued "
        "suggests suggested notes noted said claims claimed contends contended raises raised concludes concluded highlights "
        "highlighted believes commented comments questioned identified objected objects welcomed welcomes recommended "
        "recommends requested requests satisfied asked asks sought concerned wanted",
        "asks": "request* recommend* ask* seek sought encourag* advis* would_expect should_be would_welcome require requires "
        "required would_like urge* suggest* expect* must need* will_require should need_to clarification further_information",
        # status words
        "existing": "existing currently current presently at_present already nearby nearest adjacent today "
        "historically established",
        "located": "is_located are_located located lies lie situated is_served served_by benefits_from is_bounded "
        "bounded_by is_accessed adjoins is_within walking_distance within_close close_proximity in_proximity",
        "already": "existing currently already retained retention remain remains at_present presently",
        "was": "was were had",
        "reporter": "i council appellant appeal inspector",
        "elsewhere": "adjacent neighbouring adjoining nearby other another separate consented committed approved cumulative",
        "head": "development developments scheme schemes site sites application applications permission allocation land "
        "masterplan parcel",
        "contrast": "but however although though whilst while despite notwithstanding declined refused instead",
        "change": "change* alteration* amendment* objection*",
        "where": "where wherever or_more major_development",
        "requirement": "requirement requirements required requires demand need needs needed",
        "by": "by",
        "others": "others council authority developer developers landowner landowners applicant's",
        "opinion": "i_find i_consider i_conclude no_conflict is_considered considered_that considered_to believe* opinion",
        "where_hedge": "subject_to where_feasible where_possible where_appropriate where_practicable where_necessary "
        "if_required if_necessary if_needed if_possible unless as_appropriate where_relevant as_necessary in_the_event "
        "if_approved as_required where_required provided_that where_viable",
        "if": "if unless whether should_it should_they should_this should_the_development",
        "indicative": "illustrative indicative indicatively concept conceptual aspiration* envisaged explor* investigat* safeguard* "
        "illustratively",
        "deferred": "reserved_matters_stage reserved_matters_application* reserved_matters_submission* at_reserved_matters detailed_design_stage detailed_design to_be_agreed to_be_confirmed "
        "to_be_determined be_agreed be_finalised later_stage in_due_course further_details details_to_be details_will_be "
        "secured_by_condition secured_through_condition by_way_of_condition subsequent_approval future_applications "
        "planning_condition planning_conditions by_condition through_conditions to_be_scoped discharge_of_condition "
        "detailed_matters future_reserved determined_at established_through post_planning post_-_planning",
        "approval": "submitted_to_and_approved approved_in_writing until_details first_submitted submitted_to_and_agreed "
        "approval_of_the_details written_approval agreed_in_writing until_a_scheme shall_be_submitted",
        "assumption": "assum* predicted predicts estimated estimates anticipated sensitivity scenario* hypothe* would_generate "
        "would_operate projected worst_-_case would_equate would_increase would_be_expected equates equating",
        "likely": "would_result would_not_result likely expected forecast* prediction* modelling modelled indicates may_increase calculated",
        "potential": "potential potentially opportunit* option options in_principle capable_of_being",
        "accompanied": "supported_by accompanied_by submitted_with is_submitted been_submitted submitted_travel_plan",
        "own_document": "travel_plan travel_plans design_code framework_travel_plan strategy landscape_strategy",
        "contains": "includes include sets sets_out contains identifies comprises proposes",
        "secured": "secured controlled dealt_with",
        "condition": "condition conditions",
        "redesigned": "re_-_arranged rearranged reconfigured redesigned amended_to revised_to been_designed has_been_designed "
        "have_been_designed been_provided been_incorporated been_included been_added been_introduced been_amended "
        "been_relocated been_increased been_repurposed",
        "distance": "minute_walk minutes_walk minute_-_walk minutes'_walk minute_journey walking_distance radius "
        "m_away metres_away km_away miles_away metres_from m_from km_from metres_to km_to",
        "limit": "limit limits",
        "proposal_label": "proposal_: proposals_: description_of_development request_fo request_for "
        "description_: development_:",
        "occupation": "prior_to_occupation prior_to_first_occupation before_occupation prior_to_first_use",
        "aims": "prioritis* encourag* support* promot* focus vision objective* strategy",
        "impact": "impact impacts severe effect effects capacity harm congestion",
        "other_scheme": "consented_scheme approved_scheme adjacent_development neighbouring_development committed_development* "
        "separate_application separate_planning_application other_development* nearby_development* cumulative_scheme* "
        "other_applications wider_masterplan approved_development neighbouring_scheme* adjoining_development* other_sites "
        "resolution_to_grant planning_application_( other_schemes",
        "earlier_scheme": "extant_scheme extant_permission consented_scheme previous_application earlier_scheme "
        "previous_scheme previous_permission extant_consent approved_scheme implemented_permission original_scheme "
        "refused_scheme",
        "historic": "previous previously originally original superseded former formerly extant earlier historic "
        "withdrawn initial initially_submitted prior_scheme lapsed",
        "permitted": "permission_was was_granted granted_for consent_was consented permitted planning_history",
        "denial": "no not nor neither never cannot without none unable lack lacks lacking absence absent fails fail "
        "insufficient inadequate removed omitted excluded unacceptable poor vague",
        "rejects": "not_proposed not_provided no_longer not_feasible not_possible discounted ruled_out omitted removed "
        "not_include not_included not_considered_necessary dismissed_as rejected not_required not_necessary deleted cannot_be_accommodated cannot_be_provided cannot_be_achieved "
        "not_be_provided",
        "phased": "phased phasing phases day_one phase_1 phase_2 phase_one phase_two on_opening balance_of first_phase initially future_phases incrementally later_phase "
        "timing_and_phasing in_advance_of_each staged future_provision tranche over_time",
        "complies": "comply complies complied complying compliance compliant accord accords accordance consistent_with "
        "in_line_with acceptable conforms satisfies satisfied align aligns aligned",
        "quoted": '“ ‘ "',
        "reason": "reason_: reasons_:",
        "intended": "intended intend intends aims aim designed_to",
    }
)

SECTIONS = Lexicon(
    {
        "policy": "policy policies policy_context planning_policy framework legislation guidance legislative "
        "development_plan nppf statutory regulations standards national local_plan",
        "existing": "existing site_description site_context surroundings baseline site_location description_of_site "
        "site_and surrounding location accessibility site_characteristics application_site context characteristics "
        "description_of_the_site the_site local_highway highway_network current conditions_on local_facilities "
        "public_transport_network walking_and_cycling_network",
        "proposal": "proposal proposals proposed_development proposed scheme development_proposals amendments "
        "description_of_development description_of_proposal the_development design_evolution design_proposals "
        "project_summary public_realm",
        "consultees": "consultee consultees consultation_responses statutory_consultee internal_consultee* consultations "
        "consultation_response technical_consultees responses tfl officer_comments",
        "objectors": "representations parish_council town_council neighbour* public_comments objections third_party "
        "residents parish_councils parish representation publicity",
        "engagement": "pre_-_application preapplication pre_application engagement design_review community_consultation "
        "consultation community_involvement",
        "history": "planning_history site_history history relevant_history planning_background",
        "others": "committed_development committed_developments cumulative other_developments nearby_schemes "
        "neighbouring_developments committed_schemes",
        "conditions": "conditions schedule_of_conditions recommended_conditions planning_conditions draft_conditions",
        "not_conditions": "existing_conditions baseline_conditions current_conditions site_conditions ground_conditions "
        "highway_conditions traffic_conditions network_conditions local_conditions market_conditions living_conditions "
        "wind_conditions",
        "obligations": "heads_of_terms section_106 planning_obligations obligations s_106 legal_agreement",
        "forecast": "trip_generation forecast* trip_forecast* traffic_impact modelling junction_capacity traffic_growth "
        "assessment_of_impact",
        "assessment": "assessment considerations planning_considerations planning_balance analysis consideration "
        "conclusion* evaluation appraisal",
        "travel_plan": "travel_plan measures action_plan targets",
    }
)
