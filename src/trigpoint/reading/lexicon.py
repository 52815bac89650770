"""Word classes: the words and phrases by which a statement shows what it is about. Topics are rules over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from trigpoint.reading.tokens import Token, tokenise

_LETTERS = 3  # by which prefixes are looked up: none is shorter
_Phrase = tuple[tuple[str, ...], bool, str]

# A class lists words; "walk*" means every word that begins so; words joined by "_" are a phrase.
CLASSES: dict[str, str] = {
    "cycle": "cycle cycles cycled cycling cyclist cyclists bicycle* bike* ebike* cycleway* cyclepath* cycle-friendly wheeling "
    "mobility_hub micromobility",
    "walk": "pedestrian* walk walks walked walking walkable walker* footway* pavement* footpath* on_foot footbridge* walkway* "
    "wheelchair_user*",
    "active": "active_travel active_modes sustainable_travel non_motorised_users sustainable_modes sustainable_transport",
    "not_cycle": "life_cycle lifecycle life-cycle lifecycles water_cycle carbon_cycle motor_cycle motor_cycles cycle_of "
    "recycling recycle cycles_of hydrological_cycle life_-_cycle",
    "store": "parking store stores shed sheds hanger* cages storage stand stands rack racks hub shelter shelters compound parked stored stacker* "
    "stacked locker_parking",
    "space": "space spaces bay bays place places",
    "stand": "sheffield_stand* sheffield two_-_tier two_tier double_stack* double_-_stack* josta folding_bike* long_stay_space* long_-_stay_space* short_stay_space* short_-_stay_space*",
    "long_stay": "long_stay long_-_stay residents resident resident's residents' staff employee* occupier* tenant* basement "
    "residential",
    "stay": "long_stay long_-_stay short_stay short_-_stay",
    "short_stay": "short_stay short_-_stay visitor visitors customer* public_cycle",
    "larger": "larger_cycle* cargo adapted accessible non_standard non_-_standard tricycle* trikes disabled_cycl* oversized "
    "larger_space* larger_stand* wheelchair adaptive inclusive_cycle*",
    "facility": "shower* locker* changing drying end_of_trip end_-_of_-_trip end_-_of_-_journey repair* maintenance_stand* "
    "pump toolkit wash",
    "quality": "secure secured security covered sheltered weatherproof lockable convenient overlooked lift lifts ramp ramps "
    "stair stairs level_access access accessed fob cctv lit doors aisle* gully location located",
    "car": "car cars vehicle vehicles vehicular motor motorist* garage* garages ev",
    "car_parking": "car_parking car_park car_parks car_free car_-_free parking_space* parking_bay* parking_spaces blue_badge "
    "disabled_parking disabled_bay* disabled_spaces disabled_persons electric_vehicle* ev_charging charging_point* "
    "parking_provision parking_standard* parking_strategy parking_arrangements parking_pressure* car_club garages "
    "on_-_street_parking off_-_street_parking parking_permit* residents_permit* permit_holder*",
    "parking": "parking parked",
    "route": "route routes path paths pathway* track tracks lane lanes network networks corridor* greenway* cycleway* way "
    "quietway* infrastructure provision improvements measures facilities movement superhighway*",
    "link": "link links linked linking linkage* connect* permeab* through_route* walkway* passage* bridleway* footpath* "
    "public_right* rights_of_way prow byway alley* towpath* footway* pavement* thoroughfare* integrat* route routes bridge* "
    "footbridge* underpass* permissive access_points access_point",
    "shared_path": "shared_path* shared_use shared_-_use shared_cycle* shared_footway shared_footpath shared_pedestrian "
    "shared_route",
    "timetable": "runs run every hourly half_-_hourly daily sundays sunday timetable service services frequency departures",
    "missed_target": "targets_are_not target_is_not if_the_target* if_targets failure_to_meet not_met targets_not",
    "prow": "public_right* rights_of_way right_of_way prow prows footpath* bridleway* byway* towpath* permissive_path*",
    "capacity": "capacity queu* severe",
    "tree_care": "new retain* retention plant* remov* loss losses lost street additional replacement lined protected number",
    "outdoors": "street streets route routes path paths public_realm safe safety security secure external road roads walking "
    "pedestrian* cycl* open_space landscap*",
    "mitigation": "mitigation mitigate mitigated",
    "design_speed": "design_speed designed_for",
    "new": "new proposed",
    "way_through": "route routes passageway* connection connections pathway* alleyway* footpath*",
    "obstacle": "bollard* gated level_change* stepped turnstile*",
    "people": "people staff residents employees pupils occupants visitors workers users commuters",
    "roads": "highway* road roads junction* traffic transport vehicle* vehicular access network",
    "servicing": "loading deliveries delivery_vehicle* delivery_and_servicing servicing refuse",
    "noise": "noise vibration odour air_quality wind daylight sunlight archaeolog* contaminat*",
    "shopping": "retail shopping shop shops",
    "access": "safe_and_suitable_access suitable_access vehicular_access vehicle_access access_point* "
    "access_arrangement* points_of_access the_access access_would_be",
    "measure_named": "shared_mobility car_club* cycle_hire bike_hire e_-_bike_voucher* welcome_pack* cycle_training "
    "cycle_to_work_scheme travel_information travel_voucher* travel_pack* personalised_travel docking_station* bicycle_user_group "
    "public_transport_voucher* sustainable_travel_voucher* information_pack* season_ticket*",
    "assessment": "transport_assessment transport_statement transport_evidence",
    "dependent": "width* wide surface* surfacing lighting lit gradient* alignment accessibility route routes connection* "
    "links security secure separation overlooking measures improvement* works details scheme",
    "permeable": "permeability modal_filter* permeable porous porosity through_route* through_-_route* through_the_site through_connection* "
    "through_site route_through passageway* thoroughfare*",
    "public_access": "open_to_the_public accessible_to_the_public open_up opened_up opens_up opening_up public_route* "
    "new_street* new_route*",
    "no_access": "inaccessible private_access residents_only impermeable_site",
    "near": "radius metres metre m km minute minutes mile miles walk distance vicinity proximity adjacent",
    "ncn": "ncn national_cycle_network national_cycle_route nationally_cycle quietway* cycleway_number* cycle_superhighway* "
    "lcwip sustrans",
    "width": "width* wide narrow narrows narrower widen* widening",
    "separate": "segregat* separat* shared_surface* shared_use shared_-_use shared_space shared_path* conflict* mixed_with "
    "stepped_track light_segregation kerb*",
    "surface": "surface* surfaced surfacing tarmac unmade unsurfaced muddy bound_gravel paved lit unlit lighting "
    "all_-_weather seasonally",
    "lighting": "lighting lit unlit luminaire* lux illuminat* light_spill street_light* lamp* light_levels",
    "traffic": "traffic aadt vehicles_a congestion congested vehicle_flow* vehicles_per vehicular_traffic highway_network "
    "vehicle_movement* vehicle_trips vehicular_trips modal_filter road_network vehicular_movements highway_capacity "
    "highway_impact* road_safety highway_safety",
    "not_traffic": "hostile_vehicle construction_traffic traffic_management construction delivery_traffic air_traffic demolition_traffic "
    "construction_vehicle* construction_logistics",
    "speed": "mph speed speeds 85_th_percentile speed_limit* speeding",
    "calm": "traffic_calm* traffic_-_calm* calming home_zone* 20_mph speed_table* raised_table* self_enforcing "
    "self_-_enforcing pedestrian_priority pedestrian_prioritised pedestrian_-_prioritised pedestrian_focused "
    "pedestrian_-_focused pedestrian_dominated pedestrian_-_dominated low_speed slow_speed speed_management play_street* "
    "pedestrian_friendly pedestrian_-_friendly shared_surface* low_-_speed horizontal_deflection",
    "junction": "junction junctions roundabout* bellmouth* crossroad* site_access vehicular_access access_arrangement* "
    "point_of_access access_junction visibility_splay* visibility_splays",
    "priority": "priority give_way signal* signalis* signalled toucan advanced_stop pedestrians_and_cyclists_prioritised",
    "crossing": "crossings crossing_of crossing_on toucan* zebra* puffin* pelican* parallel_crossing* refuge* dropped_kerb* tactile crossing_point* "
    "crossing_facilit* pedestrian_crossing uncontrolled_crossing controlled_crossing controlled_pedestrian cycle_crossing "
    "signal_controlled_crossing safe_crossing new_crossing",
    "geometry": "visibility_splay* corner_radi* kerb_radi* junction_radi* vehicle_tracking swept vehicular_access bellmouth* "
    "carriageway_width* access_arrangement* roundabout* access_road points_of_access ghost_island* right_turn_lane "
    "access_gradient* access_geometry inter_-_visibility carriageway",
    "barrier": "barrier* gate gates gated bollard* severance severed steps wall walled fence* closed closure dead_end* "
    "cul_de_sac* culs_de_sac obstruct* demolish* demolition_of_the_pedestrian isolated inward_-_looking chicane* blocked "
    "stopped_up stopping_up discontinued semi_-_private",
    "direct": "direct directly directness desire_line* legib* detour* walking_distance cycling_distance walking_distances "
    "cycling_distances accessible_location minutes_walk minute_walk convenient_route* 15_-_minute 20_-_minute",
    "trip": "trip trips two_-_way_movements vehicle_movements trip_generation trip_rate* trics person_trips vehicle_trips "
    "journeys peak_hour am_peak pm_peak",
    "mode_share": "mode_share* driven arrive_by_car travel_by_car modal_share* modal_split* mode_split* modal_shift mode_shift travel_mode* mode_of_travel "
    "journey_to_work by_car reliance_on_the_private reliance_on_private car_dependen* single_-_occupancy car_use "
    "reduce_the_need_to_travel travel_choices transport_modes modes_of_transport need_to_travel modal_hierarchy "
    "sustainable_modes mode_choice car_dependency modes_of_travel",
    "data": "transport_assessment transport_statement census trics modelling modelled survey surveys baseline counts "
    "travel_survey traffic_survey* sensitivity_test transport_evidence technical_note collision* sensitivity",
    "audit": "critical_fail* route_scores wchar cycling_audit walking_audit pers clos cycling_level_of_service jat active_travel_zone atz "
    "healthy_streets propensity_to_cycle audit_of_walking route_audit* non_-_motorised_user_audit walking_and_cycling_audit "
    "placecheck active_zone_assessment standing_advice active_travel_assessment pedestrian_comfort "
    "walking_route_audit* route_selection_tool",
    "bus": "bus buses bus_stop* coach park_and_ride park_&_ride public_transport shelter_at_bus bus_route* "
    "real_-_time_passenger",
    "bus_stop": "bus_stop* stops stop nearest_bus public_transport bus_route* ptal bus_stops bus_shelter*",
    "frequency": "frequen* an_hour a_day hourly half_-_hourly every_hour per_hour timetable* services service daily sundays regular "
    "bus_service* bus_services operat* improvements_to_bus bus_provision",
    "rail": "railway rail station stations train trains underground overground tube dlr elizabeth_line crossrail tram trams "
    "metro ptal public_transport_accessibility",
    "not_bus": "walking_bus walking_buses minibus*",
    "shower": "shower* changing_facilities changing_room*",
    "workers": "staff employee* occupier* tenant*",
    "towards": "towards",
    "pounds": "£",
    "per_cent": "% per_cent percent",
    "not_rail": "station_road station_street station_lane station_approach station_way railway_street railway_road "
    "railway_lane railway_terrace police_station fire_station power_station petrol_station filling_station service_station station_rise ambulance_station stationary "
    "charging_station* docking_station* substation*",
    "works": "section_278 s_278 s_._278 highway_works highways_works off_-_site_works highway_improvement* "
    "off_-_site_highway off_-_site_improvements highway_mitigation junction_improvement* capacity_improvement* "
    "off_-_site_infrastructure public_realm_works highways_mitigation footway_improvements real_-_time_passenger "
    "offsite_works signalisation bus_infrastructure section_38_agreement off_-_site_public_realm",
    "contribution": "contribution contributions section_106 s_106 s_._106 planning_obligation* legal_agreement "
    "commuted financial_contribution*",
    "transport": "transport transportation highway highways bus buses rail cycle cycling pedestrian* travel walking "
    "footpath* sustainable_transport active_travel junction* roundabout* road roads crossing* public_right* route routes "
    "station stations display displays tfl crossrail cycle_hire mobility",
    "not_transport": "samm nhs health healthcare education ambulance affordable_housing cil biodiversity carbon_offset* "
    "open_space library hatfield early_years police primary_school secondary_school community_infrastructure healthcare",
    "travel_plan": "travel_plan* travel_planning travel_information travel_pack* cycling_promotion_plan "
    "cycle_promotion_plan sustainable_travel_plan welcome_pack* travel_plans travelplan travel_information_pack*",
    "coordinator": "coordinator* co_-_ordinator* co_-_ordinators travel_champion*",
    "target": "target targets reduce_single reduction_in reduction_of aim_to_achieve",
    "monitor": "monitor* review reviewed reviews surveys survey annual_survey* travel_survey* monitoring_fee",
    "remedy": "remed* additional_measures further_measures penalt* sanction* default fail_to_meet",
    "measure": "voucher* car_club* welcome_pack* incentive* cycle_hire cycle_training cycle_to_work_scheme shared_mobility "
    "travel_information personalised bike_hire e_-_bike* promotion measures initiative* information_pack* travel_pack* "
    "electric_vehicle_charging_infrastructure sustainable_transport_measures encourag* docking_station* cycle_voucher*",
    "tree": "tree trees tree_-_lined",
    "overlook": "overlook* natural_surveillance passive_surveillance active_frontage* surveillance "
    "eyes_on active_street designing_out_crime",
    "privacy": "privacy overbearing daylight sunlight outlook amenity_of_neighbour* neighbouring_propert* habitable "
    "loss_of_light separation_distances",
    "school": "school schools college* education_facilities nursery",
    "comply": "comply complies complied complying compliance compliant accord accords accorded accordance consistent_with in_line_with conform* meets_the satisf* policy_-_compliant "
    "exceeds adhere* aligns align aligned not_be_severe not_severe acceptable in_full_accord* vision_-_led",
    "standard": "policy policies standard standards plan framework nppf guidance development_plan local_plan london_plan "
    "ltn national_planning_policy requirement* spd core_policy core_policies vision_-_led design_code paragraph",
    "dwelling": "dwelling* home homes flats apartments houses residential_units units bungalow*",
    "floorspace": "floorspace sqm m2 sq_m square_metres gia gea nia floor_space hectares storeys storey bed_care bedrooms "
    "pupils pupil",
    "build": "application proposal* proposed_development development redevelopment scheme erection construction_of "
    "conversion change_of_use demolition extension comprising planning_permission outline_application deliver* provide*",
    "kind": "outline reserved_matters full_planning change_of_use householder hybrid_application all_matters_reserved "
    "prior_approval listed_building_consent scoping_opinion detailed_planning outline_planning full_application",
    "leisure": "dog_-_walking dog_walking dog_walk dogs jogging play_area* playing_field* recreational_routes "
    "recreational_route circular_walk fitness_trail",
    "fire": "fire_appliance* fire_tender* appliance* fire_service dead_-_end hydrant* firefight* fire_fighting "
    "fire_and_rescue",
    "water": "surface_water drainage suds swale* flood* exceedance permeable_paving attenuation sewer* groundwater "
    "permeable_surfac* impermeable runoff run_-_off",
    "wild": "wildlife ecolog* habitat* bat bats biodiversity species newt* badger* hedgehog* migration foraging",
    "view": "visual viewpoint* landscape_impact views townscape skyline vista* receptor* heritage conservation_area "
    "listed_building* openness",
}


def tag(text: str) -> Mapping[str, list[int]]:
    """Return for each class the positions of its words in a text, counted in tokens."""
    return _TOPIC_WORDS.tag_text(text)


class Lexicon:
    """Finds the words and phrases of a table of classes among tokens."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self.words: dict[str, list[str]] = {}
        self.phrases: dict[str, list[_Phrase]] = {}  # by the first word
        self.prefixes: dict[str, list[tuple[str, str]]] = {}  # by the first letters
        for name, listed in classes.items():
            for entry in dict.fromkeys(listed.lower().split()):
                self._add(name, entry)
        self.tag_text = lru_cache(maxsize=4096)(self._tag_text)

    def _add(self, name: str, entry: str) -> None:
        first, *rest = entry.rstrip("*").split("_")
        if rest:
            self.phrases.setdefault(first, []).append((tuple(rest), entry.endswith("*"), name))
        elif entry.endswith("*"):
            self.prefixes.setdefault(first[:_LETTERS], []).append((first, name))
        else:
            self.words.setdefault(first, []).append(name)

    def _tag_text(self, text: str) -> Mapping[str, list[int]]:
        return self.tag(tokenise(text))

    def tag(self, tokens: Sequence[Token]) -> dict[str, list[int]]:
        """Return for each class the positions of its words among these tokens."""
        positions: dict[str, list[int]] = {}
        for index, token in enumerate(tokens):
            word = token.text
            for name in self.words.get(word, ()):
                positions.setdefault(name, []).append(index)
            for rest, is_prefix, name in self.phrases.get(word, ()):
                if _matches(tokens, index + 1, rest, is_prefix):
                    positions.setdefault(name, []).append(index)
            for prefix, name in self.prefixes.get(word[:_LETTERS], ()):
                if word.startswith(prefix):
                    positions.setdefault(name, []).append(index)
        return positions


def _matches(tokens: Sequence[Token], start: int, rest: tuple[str, ...], is_prefix: bool) -> bool:
    if start + len(rest) > len(tokens):
        return False
    for index, part in enumerate(rest[:-1], start):
        if tokens[index].text != part:
            return False
    word = tokens[start + len(rest) - 1].text
    return word.startswith(rest[-1]) if is_prefix else word == rest[-1]


_TOPIC_WORDS = Lexicon(CLASSES)
